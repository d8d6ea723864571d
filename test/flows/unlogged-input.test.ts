import { expect, it } from 'vitest'
import { refresh } from './clients.ts'
import { authorizeUrl, signedIn, startService, testStore } from './harness.ts'

const service = startService(testStore('memory'))
const SENT = 'HGMX-XFJV' // a user code, say, in the wrong field

it('what somebody sends where a scope or a claim is expected is refused without being named, in the answer or the log', async () => {
  const { refresh_token } = await signedIn(service)
  const refused = await refresh(service, refresh_token, { scope: `openid ${SENT}` })
  expect(refused.status).toBe(400)
  expect(await refused.text()).not.toContain(SENT)
  const claims = JSON.stringify({ id_token: { [SENT]: 5 } })
  expect((await service.fetch(await authorizeUrl({ claims }))).headers.get('location')).toContain('error=invalid_request')
  expect(service.logs.join('\n')).not.toContain(SENT)
})
