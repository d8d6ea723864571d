/** What a table says of a path: its keys are exact paths, or patterns in which a segment like `:id` stands for any one segment. */
export function pathTable<Value>(table: Readonly<Record<string, Value>>): (path: string) => Value | undefined {
  const exact = new Map<string, Value>()
  const patterns: { segments: readonly string[]; value: Value }[] = []
  for (const [path, value] of Object.entries(table)) {
    if (path.includes('/:')) patterns.push({ segments: path.split('/'), value })
    else exact.set(path, value)
  }
  return (path) => exact.get(path) ?? patterns.find(({ segments }) => matches(segments, path.split('/')))?.value
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  if (pattern.length !== path.length) return false
  return pattern.every((segment, at) => (segment.startsWith(':') ? path[at] !== '' : segment === path[at]))
}
