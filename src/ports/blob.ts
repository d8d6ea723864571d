import type { Bytes } from './platform.ts'

export interface BlobObject {
  body: Bytes
  /** Opaque, compared for equality only. */
  version: string
}

/** Whole objects with slash-separated names. */
export interface Blob {
  /** NotFound when it was never written. */
  read(name: string): Promise<BlobObject>
  /** Replaces; the new version. */
  write(name: string, body: Bytes): Promise<string>
  /** Conflict when it moved, NotFound when absent. */
  writeIfVersion(name: string, body: Bytes, version: string): Promise<string>
  /** Idempotent. */
  delete(name: string): Promise<void>
  /** Full names under a plain string prefix, sorted, all pages. */
  list(prefix: string): Promise<string[]>
  readStream(name: string): Promise<{ body: ReadableStream<Uint8Array>; version: string }>
  writeStream(name: string, body: ReadableStream<Uint8Array>): Promise<string>
}
