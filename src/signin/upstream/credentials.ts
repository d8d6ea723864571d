import { fromUtf8 } from '../../crypto/bytes.ts'
import type { Issuer } from '../../issuer/authorize/complete.ts'
import { isPortError } from '../../ports/error.ts'
import { secretAddress } from '../../ports/keys.ts'
import type { UpstreamProvider } from './providers.ts'
import { UpstreamRefusal } from './refusals.ts'

/** What this service is at a provider. */
export interface Credentials {
  clientId: string
  clientSecret: string
}

/**
 * The client id and secret that the operator was given by the provider.
 *
 * @throws UpstreamRefusal not_set_up, naming the address. PortError Unavailable
 */
export async function credentials({ id }: UpstreamProvider, issuer: Issuer): Promise<Credentials> {
  const [clientId, clientSecret] = await Promise.all([
    read(secretAddress.signInClientId(id), issuer),
    read(secretAddress.signInClientSecret(id), issuer),
  ])
  return { clientId, clientSecret }
}

async function read(address: string, { secrets }: Issuer): Promise<string> {
  try {
    const text = fromUtf8((await secrets.get(address)).value)?.trim() ?? ''
    if (text === '') throw new UpstreamRefusal('not_set_up', `the secret at ${address} is empty or no text`)
    return text
  } catch (error) {
    if (isPortError(error, 'NotFound')) throw new UpstreamRefusal('not_set_up', `no secret at ${address}`)
    throw error
  }
}
