import { type Bytes, concat } from './bytes.ts'

/** bytes: the nonce length AES-GCM is specified for (NIST SP 800-38D section 8.2) */
export const NONCE_LENGTH = 12

/** AES-256-GCM; answers nonce | ciphertext | tag. `key` is 32 bytes, `nonce` 12, drawn for this call alone. */
export async function sealAesGcm(key: Bytes, nonce: Bytes, plaintext: Bytes, aad: Bytes): Promise<Bytes> {
  const imported = await importKey(key, 'encrypt')
  const parameters = { name: 'AES-GCM', iv: nonce, additionalData: aad }
  return concat(nonce, new Uint8Array(await crypto.subtle.encrypt(parameters, imported, plaintext)))
}

/** The plaintext, or null when it was not sealed under this key and aad. */
export async function openAesGcm(key: Bytes, sealed: Bytes, aad: Bytes): Promise<Bytes | null> {
  if (sealed.length < NONCE_LENGTH + 16) return null
  const imported = await importKey(key, 'decrypt')
  const parameters = { name: 'AES-GCM', iv: sealed.slice(0, NONCE_LENGTH), additionalData: aad }
  try {
    return new Uint8Array(await crypto.subtle.decrypt(parameters, imported, sealed.slice(NONCE_LENGTH)))
  } catch {
    return null
  }
}

function importKey(key: Bytes, usage: 'encrypt' | 'decrypt'): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', key, 'AES-GCM', false, [usage])
}
