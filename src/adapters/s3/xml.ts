export interface XmlElement {
  name: string
  /** Its own, the children's not counted, references resolved. */
  text: string
  children: XmlElement[]
}

// One of: a declaration; a tag, closing or not, its attributes passed over, empty or not; text.
const TOKEN = /<\?xml[^<>]*\?>|<(\/?)([A-Za-z_][\w.-]*)(?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(\/?)>|([^<]+)/y

/**
 * The root element of a document, in the part of XML that S3 answers in: elements, text and references. Comments, CDATA, document types
 * and prefixed names are refused, and so is whatever is not well formed.
 *
 * @throws SyntaxError
 */
export function parseXml(document: string): XmlElement {
  const outside: XmlElement = { name: '', text: '', children: [] }
  const open = [outside]
  let at = 0
  while (at < document.length) {
    TOKEN.lastIndex = at
    const token = TOKEN.exec(document)
    const inner = open.at(-1)
    if (token === null || inner === undefined) throw new SyntaxError('not the XML S3 answers in')
    at = TOKEN.lastIndex
    const [, closing, name, empty, text] = token
    if (text !== undefined) inner.text += resolved(text)
    if (name === undefined) continue
    if (closing === '/') {
      if (inner.name !== name || empty === '/') throw new SyntaxError(`</${name}> closes no <${name}>`)
      open.pop()
      continue
    }
    const element: XmlElement = { name, text: '', children: [] }
    inner.children.push(element)
    if (empty !== '/') open.push(element)
  }
  const [root, ...more] = outside.children
  if (root === undefined || more.length > 0 || open.length > 1 || outside.text.trim() !== '') throw new SyntaxError('not one whole element')
  return root
}

/** The text of the one child of that name; null when there is none. */
export function childText(element: XmlElement, name: string): string | null {
  return element.children.find((child) => child.name === name)?.text ?? null
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function resolved(text: string): string {
  return text.replaceAll(/&([^&;]*;?)/g, (_, reference: string) => {
    const [, hex, decimal] = /^#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7}));$/.exec(reference) ?? []
    const code = hex !== undefined ? Number.parseInt(hex, 16) : Number.parseInt(decimal ?? '', 10)
    if (code <= 0x10ffff) return String.fromCodePoint(code)
    const character = reference.endsWith(';') ? NAMED[reference.slice(0, -1)] : undefined
    if (character === undefined) throw new SyntaxError('a reference to nothing')
    return character
  })
}
