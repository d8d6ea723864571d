import { keys, personId } from '../../src/ports/keys.ts'
import { endSignIn as end } from '../../src/records/sign-in.ts'
import type { TestService } from '../flows/harness.ts'
import { ADA } from './arrange.ts'
import { sessionsOf } from './observe.ts'

/** What a sign-out does first: from here on nothing new rests on the sign-in. */
export async function endSignIn(service: TestService, id: string): Promise<void> {
  const { state, log, clock } = service.services.issuer
  await end(state, id, { ms: clock.now() }, log)
}

/** What a sign-out does after that: it lists the person's sessions and ends those under the sign-in. */
export async function endSessionsUnder(service: TestService, id: string, person = ADA): Promise<void> {
  const { state } = service.services.issuer
  for (const session of await sessionsOf(service, person)) {
    if (session.sso !== id) continue
    await Promise.all([state.delete(keys.session(personId(person), session.id)), state.delete(keys.sessionPointer(session.id))])
  }
}
