// What the bench uses of oidc-provider, which brings no types.
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  export interface Payload {
    kind?: string
    grantId?: string
    uid?: string
    userCode?: string
    consumed?: unknown
  }

  export interface Adapter {
    upsert(id: string, payload: Payload, expiresIn?: number): Promise<void>
    find(id: string): Promise<Payload | undefined>
    findByUid(uid: string): Promise<Payload | undefined>
    findByUserCode(userCode: string): Promise<Payload | undefined>
    consume(id: string): Promise<void>
    destroy(id: string): Promise<void>
    revokeByGrantId(grantId: string): Promise<void>
  }

  export interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  export interface AuthorizationCode {
    save(): Promise<string>
  }

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    readonly Grant: new (of: {
      accountId: string
      clientId: string
    }) => Grant
    readonly AuthorizationCode: new (
      of: Record<string, unknown>,
    ) => AuthorizationCode
    readonly Client: { find(id: string): Promise<object | undefined> }
    callback(): RequestListener
  }
}
