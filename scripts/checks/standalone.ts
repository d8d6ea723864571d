import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const FOREIGN: [RegExp, string][] = [
  [/(?<![\w.])\/(?:work|root|home|Users)\/[\w.-]/, 'a path of one machine'],
  [/\/\/[\w.-]*\b(?:registry|artifactory|verdaccio)\b[\w.-]*\.\w+/, 'the host of a package registry'],
  [/\.\.\/shared\b/, 'a folder outside the repository'],
  [/\b(?:DESIGN|FORMATS|STYLE)\.md\b/, 'a document that is not in the repository'],
]

/** Where files name something only one machine, one network or one author has: `file:line: what it is`. */
export async function checkStandalone(root: string, files: readonly string[]): Promise<string[]> {
  const found = files.map(async (file) => foreignNames(file, await readFile(join(root, file), 'utf8')))
  return (await Promise.all(found)).flat()
}

function foreignNames(file: string, text: string): string[] {
  return text.split('\n').flatMap((line, at) => {
    return FOREIGN.flatMap(([pattern, what]) => {
      const match = pattern.exec(line)
      return match === null ? [] : [`${file}:${at + 1}: names ${what}: ${match[0]}`]
    })
  })
}
