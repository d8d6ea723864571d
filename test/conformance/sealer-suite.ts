import { expect } from 'vitest'
import type { SealContext, Sealer } from '../../src/ports/sealer.ts'
import { bytes, patterned, text } from './arrange.ts'
import { type Case, runCases, type Skips } from './cases.ts'

export interface SealerUnderTest {
  /** A fresh adapter under this subject's key. */
  open(): Sealer
  /** One under another key. Left out where `sealer/another-key` is skipped. */
  openAnotherKey?(): Sealer
  /** One whose key is new and whose previous key is this subject's. Left out where `sealer/previous-key` is skipped. */
  openRotated?(): Sealer
}

/** What every Sealer adapter holds (docs/design.md, "Sealing"). */
export function runSealerSuite(name: string, factory: () => Promise<SealerUnderTest>, options: { skip?: Skips } = {}): void {
  runCases(`Sealer: ${name}`, sealerCases, factory, options.skip)
}

const CONTEXT: SealContext = { instance: 'acme', purpose: 'sign', alg: 'ES256', kid: 'k1' }
const SECRET = bytes('a private key')

export const sealerCases: readonly Case<SealerUnderTest>[] = [
  {
    id: 'sealer/round-trip',
    rule: 'what was sealed opens under the same context, in another adapter too, and stands nowhere in the seal',
    async holds({ open }) {
      // 4,000 bytes: KMS takes 4,096 at most
      for (const plaintext of [SECRET, new Uint8Array([0]), patterned(4_000)]) {
        const sealed = await open().seal(plaintext, CONTEXT)
        expect(await open().open(sealed, CONTEXT)).toEqual(plaintext)
      }
      const sealed = await open().seal(SECRET, CONTEXT)
      expect(new TextDecoder('latin1').decode(sealed)).not.toContain('private')
    },
  },
  {
    id: 'sealer/context',
    rule: 'a context with any entry changed, missing or added does not open',
    async holds({ open }) {
      const sealed = await open().seal(SECRET, CONTEXT)
      const others: [string, SealContext][] = [
        ['instance', { ...CONTEXT, instance: 'other' }],
        ['purpose', { ...CONTEXT, purpose: 'seal' }],
        ['kid', { ...CONTEXT, kid: 'k2' }],
        ['kid and alg swapped', { ...CONTEXT, kid: 'ES256', alg: 'k1' }],
        ['one missing', { instance: 'acme', purpose: 'sign', alg: 'ES256' }],
        ['one more', { ...CONTEXT, module: 'oidc' }],
        ['the case of a name', { instance: 'acme', purpose: 'sign', alg: 'ES256', KID: 'k1' }],
      ]
      for (const [what, context] of others) await expect(open().open(sealed, context), what).rejects.toMatchObject({ code: 'Unsupported' })
    },
  },
  {
    id: 'sealer/context-order',
    rule: "the order of a context's entries does not matter",
    async holds({ open }) {
      const sealed = await open().seal(SECRET, { instance: 'acme', purpose: 'sign', alg: 'ES256', kid: 'k1' })
      expect(text(await open().open(sealed, { kid: 'k1', alg: 'ES256', purpose: 'sign', instance: 'acme' }))).toBe('a private key')
    },
  },
  {
    id: 'sealer/tampered',
    rule: 'a seal with any one byte changed does not open',
    async holds({ open }) {
      const sealer = open()
      const sealed = await sealer.seal(SECRET, CONTEXT)
      for (let at = 0; at < sealed.length; at++) {
        const tampered = sealed.slice()
        tampered[at] = (sealed[at] ?? 0) ^ 0x01
        await expect(sealer.open(tampered, CONTEXT), `byte ${at}`).rejects.toMatchObject({ code: 'Unsupported' })
      }
      expect(await sealer.open(sealed, CONTEXT)).toEqual(SECRET)
    },
  },
  {
    id: 'sealer/truncated',
    rule: 'a seal cut short anywhere, or with a byte more, does not open',
    async holds({ open }) {
      const sealer = open()
      const sealed = await sealer.seal(SECRET, CONTEXT)
      for (let length = 0; length < sealed.length; length++) {
        await expect(sealer.open(sealed.slice(0, length), CONTEXT), `${length} bytes`).rejects.toMatchObject({ code: 'Unsupported' })
      }
      await expect(sealer.open(new Uint8Array([...sealed, 0]), CONTEXT)).rejects.toMatchObject({ code: 'Unsupported' })
    },
  },
  {
    id: 'sealer/another-key',
    rule: 'what was sealed under one key does not open under another',
    async holds({ open, openAnotherKey }) {
      const other = given(openAnotherKey, 'openAnotherKey')
      await expect(other().open(await open().seal(SECRET, CONTEXT), CONTEXT)).rejects.toMatchObject({ code: 'Unsupported' })
      await expect(open().open(await other().seal(SECRET, CONTEXT), CONTEXT)).rejects.toMatchObject({ code: 'Unsupported' })
    },
  },
  {
    id: 'sealer/previous-key',
    rule: 'a previous key opens what it sealed and seals nothing more',
    async holds({ open, openRotated }) {
      const rotated = given(openRotated, 'openRotated')
      expect(await rotated().open(await open().seal(SECRET, CONTEXT), CONTEXT)).toEqual(SECRET)

      const sealed = await rotated().seal(SECRET, CONTEXT)
      expect(await rotated().open(sealed, CONTEXT)).toEqual(SECRET)
      await expect(open().open(sealed, CONTEXT)).rejects.toMatchObject({ code: 'Unsupported' })
    },
  },
  {
    id: 'sealer/fresh',
    rule: 'two seals of one value under one context differ, and both open',
    async holds({ open }) {
      const sealer = open()
      const [first, second] = await Promise.all([sealer.seal(SECRET, CONTEXT), sealer.seal(SECRET, CONTEXT)])
      expect(first).not.toEqual(second)
      expect(await sealer.open(first, CONTEXT)).toEqual(SECRET)
      expect(await sealer.open(second, CONTEXT)).toEqual(SECRET)
    },
  },
  {
    id: 'sealer/copies',
    rule: 'what a caller does to its buffers after the call changes neither seal nor opening',
    async holds({ open }) {
      const sealer = open()
      const plaintext = SECRET.slice()
      const sealing = sealer.seal(plaintext, CONTEXT)
      plaintext.fill(0)
      const sealed = await sealing
      const presented = sealed.slice()
      const opening = sealer.open(presented, CONTEXT)
      presented.fill(0)
      expect(await opening).toEqual(SECRET)
    },
  },
]

function given<T>(opener: T | undefined, name: string): T {
  if (opener === undefined) throw new Error(`the subject gives no ${name}, and its case is not skipped`)
  return opener
}
