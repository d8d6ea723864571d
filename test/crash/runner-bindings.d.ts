/** The binding of wrangler.toml to the objects that run ticks. */
declare namespace Cloudflare {
  interface Env {
    RUNNER: DurableObjectNamespace<import('../../src/adapters/object/runner-object.ts').RunnerObject<unknown>>
  }
}
