import { DurableObject } from 'cloudflare:workers'
export class StateShard extends DurableObject {
  async hello() {
    return this.ctx.storage.sql.exec('select 1 as x').one()
  }
}
export class SealedSecrets extends DurableObject {}
export default {
  async fetch() {
    return new Response('ok')
  },
}
