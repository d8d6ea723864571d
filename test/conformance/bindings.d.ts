/** The bindings that wrangler.toml gives the tests in workerd. */
declare namespace Cloudflare {
  interface Env {
    STATE_SHARD: DurableObjectNamespace<import('../../src/adapters/durable-object/state-shard.ts').StateShard>
    SEALED_SECRETS: DurableObjectNamespace<import('../../src/adapters/sealed/sealed-secrets.ts').SealedSecrets>
    BLOBS: R2Bucket
  }
}
