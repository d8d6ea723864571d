import type { Check } from '../check.ts'

/** What is only kept: `state` and `nonce` to give back, `login_hint` for the page. */
export const passedOn: Check = ({ parameters }) => {
  return { state: parameters.get('state'), nonce: parameters.get('nonce'), login_hint: parameters.get('login_hint') }
}
