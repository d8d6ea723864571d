import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { type Documents, readDocuments } from '../src/config/documents.ts'
import { formatProblem, type Path, type Problem } from '../src/config/problems.ts'
import { verifyOnlyWarnings } from '../src/config/verify-only.ts'

/** A document that was written by a person: its text, and the name to blame. */
export interface DocumentFile {
  name: string
  text: string
}

/** The documents, and what is odd about them; or every error in both. Each line is `file:line: path: what is wrong`. */
export type Compiled = { ok: true; documents: Documents; warnings: string[] } | { ok: false; errors: string[] }

/**
 * Takes the two YAML documents apart, holds them to their schemas and to each other, and says what is wrong with the line it is on.
 *
 * @param now unix seconds, by which a key that is over is told
 */
export function compileDocuments(files: { service: DocumentFile; policy: DocumentFile }, now = Math.floor(Date.now() / 1_000)): Compiled {
  const service = parseYaml(files.service)
  const policy = parseYaml(files.policy)
  const unreadable = [...service.errors, ...policy.errors]
  if (unreadable.length > 0) return { ok: false, errors: unreadable }

  const reading = readDocuments({ service: service.value, policy: policy.value })
  if (reading.ok) {
    const over = verifyOnlyWarnings(reading.documents.service.keyring.verify_only, now)
    return { ok: true, documents: reading.documents, warnings: [...over.map(service.line), ...reading.warnings.policy.map(policy.line)] }
  }
  return { ok: false, errors: [...byLine(reading.problems.service, service), ...byLine(reading.problems.policy, policy)] }
}

export interface Parsed {
  value: unknown
  errors: string[]
  lineOf: (path: Path) => number
  line: (problem: Problem) => string
}

/** A document by its text, and how a problem of it is said with its line. */
export function parseYaml({ name, text }: DocumentFile): Parsed {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false }) // a key written twice is among the errors
  const errors = document.errors.map((error) => `${name}:${lines.linePos(error.pos[0]).line}: ${error.message}`)
  const lineOf = (path: Path) => lines.linePos(offsetOf(document, path)).line || 1 // 0: an empty file
  const line = (problem: Problem) => `${name}:${lineOf(problem.path)}: ${formatProblem(problem)}`
  if (errors.length > 0) return { value: undefined, errors, lineOf, line }
  try {
    return { value: document.toJS(), errors, lineOf, line }
  } catch (error) {
    // aliases of aliases, that a few lines become gigabytes by
    return { value: undefined, errors: [`${name}:1: ${error instanceof Error ? error.message : error}`], lineOf, line }
  }
}

/** The offset of what stands at `path` (of its key, where it has one), or of the nearest thing above it that was written. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: Path): number {
  let node: unknown = document.contents
  let offset = 0
  for (const step of path) {
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && String(key.value) === step) : undefined
    const item = isSeq(node) ? node.items[Number(step)] : undefined
    const marked = pair?.key ?? item
    if (!isNode(marked)) return offset
    offset = marked.range?.[0] ?? offset
    node = pair?.value ?? item
    if (isAlias(node)) node = node.resolve(document)
  }
  return offset
}

function byLine(problems: readonly Problem[], parsed: Parsed): string[] {
  return problems.toSorted((a, b) => parsed.lineOf(a.path) - parsed.lineOf(b.path)).map(parsed.line)
}
