import { createRequire } from 'node:module'

interface Swc {
  parseFileSync(file: string, options: object): unknown
}

/**
 * Lets dependency-cruiser 17 read what we write. It asks swc for TypeScript without JSX, whatever a file is called, and stops at the
 * first tag; and its visitor stops at a `using` declaration. It takes swc from the module registry, so there both are put right:
 * a `.tsx` is parsed as one, and a `using` is handed on as the `const` it is to somebody who looks for imports.
 */
export function fitSwcToCruiser(): void {
  const swc: Swc = createRequire(import.meta.url)('@swc/core')
  const parse = swc.parseFileSync
  swc.parseFileSync = (file, options) => withoutUsing(parse(file, file.endsWith('.tsx') ? { ...options, tsx: true } : options))
}

function withoutUsing(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutUsing)
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withoutUsing(value)]))
  return copy.type === 'UsingDeclaration' ? { ...copy, type: 'VariableDeclaration', kind: 'const', declarations: copy.decls } : copy
}
