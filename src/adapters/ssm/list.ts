import * as z from 'zod'
import { isPortError, PortError } from '../../ports/error.ts'
import { secretPath } from '../../ports/layout5-secrets.ts'
import { secretListing } from '../../ports/secret-path.ts'
import type { JsonClient } from '../aws/aws.ts'
import { parseAnswer } from './answer.ts'
import { ssmFailure } from './failure.ts'

/**
 * The addresses below a prefix, every depth, sorted, no value decrypted. Addresses are named where they stand, under internal/ and
 * external/; what else is below the root is not the layout's, and no read would answer for it.
 *
 * @throws PortError Unsupported: no prefix, or one of credentials/, whose addresses SSM does not keep. Unavailable
 */
export async function listSecrets(client: JsonClient, instance: string, prefix: string): Promise<string[]> {
  const below = secretListing(prefix)
  if (below.startsWith('credentials/')) {
    throw new PortError('Unsupported', 'on SSM a credential is listed where it stands: below internal/<module>/')
  }
  const root = `/sluis/${instance}/`
  const names = await namesBelow(client, `${root}${below}`.slice(0, -1))
  return (
    names
      .filter((name) => name.startsWith(root))
      .map((name) => name.slice(root.length))
      .filter((address) => address.startsWith(below) && isLayouts(address, instance))
      // A name is ASCII, where JavaScript's order is the order of bytes.
      .sort()
  )
}

function isLayouts(address: string, instance: string): boolean {
  try {
    return secretPath(address, instance) === `/sluis/${instance}/${address}`
  } catch (error) {
    if (isPortError(error, 'Unsupported')) return false
    throw error
  }
}

/** names: what GetParametersByPath gives at most in one answer */
const PAGE = 10

const page = z.object({ Parameters: z.array(z.object({ Name: z.string() })).default([]), NextToken: z.string().nullish() })

async function namesBelow(client: JsonClient, path: string): Promise<string[]> {
  const names: string[] = []
  let token: string | null | undefined
  do {
    const input = { Path: path, Recursive: true, WithDecryption: false, MaxResults: PAGE, ...(token ? { NextToken: token } : {}) }
    const { Parameters, NextToken } = await ask(client, path, input)
    names.push(...Parameters.map(({ Name }) => Name))
    token = NextToken
  } while (token) // a page may be empty and still not the last
  return names
}

async function ask(client: JsonClient, path: string, input: Record<string, unknown>): Promise<z.output<typeof page>> {
  try {
    return parseAnswer(page, await client.call({ operation: 'GetParametersByPath', input }))
  } catch (error) {
    throw ssmFailure(error, `${path}/`)
  }
}
