import { type AuditEventName, catalogue } from '../../src/audit/catalogue.ts'

/** The rows of the table in docs/operate.md, "Audit", as the catalogue has them: event, when, and what it says; in brackets, where that is known. */
export function auditRows(): string[] {
  const events = Object.keys(catalogue).filter((name): name is AuditEventName => name in catalogue)
  return events.map((event) => {
    const { when, has, may } = catalogue[event]
    const says = [...has.map((field) => `\`${field}\``), ...may.map((field) => `(\`${field}\`)`)]
    return `| \`${event}\` | ${when} | ${says.join(', ')} |`
  })
}
