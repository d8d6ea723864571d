// What the Workers of the bench use of the platform. They are checked with the scripts, for Node; the platform's own types would clash.
declare module 'cloudflare:workers' {
  export class DurableObject {
    constructor(context: DurableObjectContext, env: unknown)
    protected readonly ctx: DurableObjectContext
  }

  interface DurableObjectContext {
    readonly storage: { readonly sql: { exec(statement: string, ...bindings: (string | number)[]): unknown } }
  }
}
