import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Documents } from '../../src/config/documents.ts'
import { type WrittenPolicy, writtenPolicySchema } from '../../src/config/policy.ts'
import { CommandError } from '../aws/command.ts'
import { compileDocuments, parseYaml } from '../documents.ts'

/** The documents, and the policy as it is written, which still says what stands in which row. */
export interface PolicyDocuments extends Documents {
  written: WrittenPolicy
  /** What the service document is called. */
  serviceName: string
}

/** Reads both documents of a folder. @throws CommandError with all that is wrong with either */
export async function readPolicy(folder: string): Promise<PolicyDocuments> {
  const [service, policy] = [await readText(join(folder, 'service.yaml')), await readText(join(folder, 'policy.yaml'))]
  const compiled = compileDocuments({ service, policy })
  if (!compiled.ok) throw new CommandError(compiled.errors.join('\n'))
  return { ...compiled.documents, written: writtenPolicySchema.parse(parseYaml(policy).value), serviceName: service.name }
}

/** A file's text, under the name it has from here. @throws CommandError it can't be read */
export async function readText(file: string): Promise<{ name: string; text: string }> {
  const name = relative(process.cwd(), file)
  try {
    return { name, text: await readFile(file, 'utf8') }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    throw new CommandError(`${name} can't be read: ${code}`, { cause: error })
  }
}
