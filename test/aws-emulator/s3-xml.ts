import type { Answer } from './call.ts'

/** `<name>` with its content: a list repeats the element, an object nests, null and undefined are left out. */
export function element(name: string, content: unknown): string {
  if (content === null || content === undefined) return ''
  if (Array.isArray(content)) return content.map((one) => element(name, one)).join('')
  const inner =
    typeof content === 'object'
      ? Object.entries(content)
          .map(([child, value]) => element(child, value))
          .join('')
      : escaped(String(content))
  return `<${name}>${inner}</${name}>`
}

export function document(name: string, content: object, namespace = true): string {
  const xml = element(name, content)
  const xmlns = namespace ? ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"' : ''
  return `<?xml version="1.0" encoding="UTF-8"?>\n${xml.replace(`<${name}>`, `<${name}${xmlns}>`)}`
}

/** The texts of every element of one name inside some XML, in order; enough for the flat documents that S3 is sent. */
export function texts(xml: string, name: string): string[] {
  const found = xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>([^]*?)</${name}>`, 'g'))
  return [...found].map(([, inner = '']) => unescaped(inner))
}

function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: S3 writes them as references, which XML 1.0 parsers refuse
  return text.replace(/[&<>"'\u0000-\u001f]/g, (char) => names[char] ?? `&#x${char.charCodeAt(0).toString(16)};`)
}

const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

function unescaped(text: string): string {
  const chars = Object.fromEntries(Object.entries(names).map(([char, reference]) => [reference, char]))
  return text.replace(/&(?:amp|lt|gt|quot|apos);/g, (reference) => chars[reference] ?? reference)
}

export function xmlAnswer(body: string, headers: Record<string, string> = {}): Answer {
  return { status: 200, headers: { 'content-type': 'application/xml', ...headers }, body }
}
