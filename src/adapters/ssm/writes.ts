import * as z from 'zod'
import { utf8 } from '../../crypto/bytes.ts'
import { isPortError, PortError } from '../../ports/error.ts'
import { isAwsError, type JsonClient } from '../aws/aws.ts'
import { parseAnswer } from './answer.ts'
import { ssmFailure } from './failure.ts'
import { readParameter } from './reads.ts'

export interface WriteOptions {
  client: JsonClient
  /** `alias/...` of the key to encrypt under; absent: the account's own for SSM. */
  keyId: string | undefined
}

/** bytes: a standard parameter's value. A longer one, up to the 8,192 that the port's limit comes to, is an advanced parameter, which costs. */
const STANDARD_LIMIT = 4_096

/**
 * A parameter that was not there: one call, of which SSM lets one of N racers pass. When an answer got lost on the way, a parameter that
 * has had no other version and holds our value is our own write. It may also be another's of the same value: then what was asked for stands.
 *
 * @returns the version
 * @throws PortError Conflict: it was there. Unavailable
 */
export async function createParameter(options: WriteOptions, name: string, text: string): Promise<number> {
  try {
    return await putParameter(options, { name, text, overwrite: false })
  } catch (error) {
    const exists = isAwsError(error, 'ParameterAlreadyExists')
    const mayBeOurs = isAwsError(error) ? error.mayHaveLanded : isPortError(error, 'Unavailable')
    const standing = mayBeOurs ? await readParameter(options.client, name) : null
    if (standing?.version === 1 && standing.text === text) return 1
    if (exists) throw new PortError('Conflict', `parameter ${name} exists`)
    throw ssmFailure(error, name)
  }
}

/**
 * A new version over `before`; 0 when there was none. Never sent a second time when its answer is lost: the same value twice would push
 * the one before it out of `previous`, which clients still present. What stands as the next version says whether it landed.
 *
 * @returns the version
 * @throws PortError Unavailable: it may have been written
 */
export async function overwriteParameter(options: WriteOptions, name: string, text: string, before: number): Promise<number> {
  try {
    return await putParameter(options, { name, text, overwrite: true })
  } catch (error) {
    const next = before + 1
    const standing = isPortError(error, 'Unavailable') ? await readParameter(options.client, name, next) : null
    if (standing?.text === text) return next
    throw ssmFailure(error, name)
  }
}

/** Success when there is none. @throws PortError Unavailable */
export async function deleteParameter(client: JsonClient, name: string): Promise<void> {
  try {
    await client.call({ operation: 'DeleteParameter', input: { Name: name } })
  } catch (error) {
    if (!isAwsError(error, 'ParameterNotFound')) throw ssmFailure(error, name)
  }
}

interface Write {
  name: string
  text: string
  overwrite: boolean
}

async function putParameter({ client, keyId }: WriteOptions, { name, text, overwrite }: Write): Promise<number> {
  const answer = await client.call({
    operation: 'PutParameter',
    input: {
      Name: name,
      Value: text,
      Type: 'SecureString',
      Overwrite: overwrite,
      // Left to the account's default below the limit: a parameter once advanced stays so, and saying Standard would be refused.
      ...(utf8(text).length > STANDARD_LIMIT ? { Tier: 'Advanced' } : {}),
      ...(keyId === undefined ? {} : { KeyId: keyId }),
    },
    repeatable: !overwrite,
  })
  return parseAnswer(putAnswer, answer).Version
}

const putAnswer = z.object({ Version: z.int().positive() })
