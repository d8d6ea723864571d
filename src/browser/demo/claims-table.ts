import type { JsonObject } from './json.ts'

/** Claims whose numbers are unix seconds. */
const TIMES: ReadonlySet<string> = new Set(['iat', 'exp', 'nbf', 'auth_time', 'updated_at'])

/** A heading and a table, one row a claim. Everything is set as text: claims are other people's words. */
export function claimsTable(title: string, claims: JsonObject): Node {
  const heading = document.createElement('h2')
  heading.textContent = title
  const table = document.createElement('table')
  table.createTBody().append(...Object.entries(claims).map(([name, value]) => claimRow(name, value)))
  const section = document.createElement('section')
  section.append(heading, table)
  return section
}

function claimRow(name: string, value: unknown): HTMLTableRowElement {
  const row = document.createElement('tr')
  const head = document.createElement('th')
  head.scope = 'row'
  head.textContent = name
  row.append(head)
  row.insertCell().textContent = claimText(name, value)
  return row
}

export function claimText(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' && TIMES.has(name)) return `${new Date(value * 1000).toLocaleString()} (${value})`
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ')
  return JSON.stringify(value) ?? ''
}
