import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Where README.md and docs/ promise what isn't there: links to no file or heading, and `npm run` commands nobody wrote. */
export async function checkDocs(root: string, files: readonly string[]): Promise<string[]> {
  const pages = files.filter((file) => file === 'README.md' || /^docs\/.*\.md$/.test(file))
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const commands = scriptsOf(manifest)
  const texts = new Map(await Promise.all(pages.map(async (page) => [page, await readFile(join(root, page), 'utf8')] as const)))
  return [...texts].flatMap(([page, text]) =>
    text.split('\n').flatMap((line, at) => {
      const broken = [...brokenLinks(root, page, line, texts), ...unknownCommands(line, commands)]
      return broken.map((message) => `${page}:${at + 1}: ${message}`)
    }),
  )
}

function brokenLinks(root: string, page: string, line: string, texts: ReadonlyMap<string, string>): string[] {
  return [...line.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return []
    const [path = '', anchor] = target.split('#')
    const file = path === '' ? page : join(dirname(page), path)
    if (!existsSync(join(root, file))) return [`links to ${target}, which is not there`]
    const text = texts.get(file)
    const lost = anchor !== undefined && text !== undefined && !anchors(text).has(anchor)
    return lost ? [`links to ${target}, and ${file} has no such heading`] : []
  })
}

/** The anchors GitHub gives to a page's headings, the second of a name with `-1`. */
function anchors(text: string): Set<string> {
  const seen = new Map<string, number>()
  const headings = text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)
  return new Set(
    [...headings].map(([, heading = '']) => {
      const plain = heading
        .toLowerCase()
        .replace(/\]\([^)]*\)/g, '')
        .replace(/[^\p{L}\p{N} _-]/gu, '')
      const slug = plain.replaceAll(' ', '-')
      const count = seen.get(slug) ?? 0
      seen.set(slug, count + 1)
      return count === 0 ? slug : `${slug}-${count}`
    }),
  )
}

function unknownCommands(line: string, commands: ReadonlySet<string>): string[] {
  const named = [...line.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)].map(([, run, short]) => run ?? short ?? '')
  return named.filter((name) => !commands.has(name)).map((name) => `names npm run ${name}, which package.json does not have`)
}

function scriptsOf(manifest: unknown): Set<string> {
  const scripts = typeof manifest === 'object' && manifest !== null && 'scripts' in manifest ? manifest.scripts : null
  return new Set(typeof scripts === 'object' && scripts !== null ? Object.keys(scripts) : [])
}
