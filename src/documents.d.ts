/** The compiled documents. What stands behind the names is an alias (wrangler.toml, vitest.config.ts), so that tests run with others. */
declare module 'sluis-service' {
  const service: import('./config/service.ts').Service
  export default service
}

declare module 'sluis-policy' {
  const policy: import('./config/policy.ts').Policy
  export default policy
}
