import { env } from 'cloudflare:workers'
import { blobMemory, memoryBlob } from '../../src/adapters/memory/blob.ts'
import { seededScheduler } from '../../src/adapters/memory/scheduler.ts'
import { r2Blob } from '../../src/adapters/r2/blob.ts'
import { runBlobSuite } from './blob-suite.ts'

runBlobSuite('memory', async () => {
  const memory = blobMemory()
  const scheduler = seededScheduler(1)
  return { open: () => memoryBlob({ memory, scheduler }) }
})

runBlobSuite('r2', async () => {
  const prefix = crypto.randomUUID()
  return { open: () => r2Blob({ bucket: env.BLOBS, prefix }) }
})
