import { CompactSign, importPKCS8 } from 'jose'
import type { Adapters } from '../../src/compose.ts'
import { encodeBase64, encodeBase64url } from '../../src/crypto/base64url.ts'
import { type Bytes, utf8 } from '../../src/crypto/bytes.ts'
import { labelledDigestHex, sha256Hex } from '../../src/crypto/digest.ts'
import { generateKeyPair } from '../../src/keyring/key-pair.ts'
import type { SealContext } from '../../src/ports/sealer.ts'
import { writeSpentMark } from '../../src/records/spent-mark.ts'

const ADA = 'ada@acme.example'
const GRACE = 'grace@acme.example'

const MINUTE = 60 // s
const HOUR = 3_600 // s
const REFRESH = 12 * HOUR // that service's refresh lifetime: sessions, sign-ins and live tokens
const KEYRING = 30 * 24 * HOUR

/** What the clients, browsers and operators of a Go service hold, whose table a test has just written. */
export interface GoTable {
  sessions: Record<'demo' | 'native' | 'backend' | 'graces', GoSession>
  /** The cookies of the sign-ins; never stored. */
  cookies: { ada: string; grace: string }
  signIns: { ada: string; grace: string }
  /** A refresh token that an older version of it spent for demo's, and left a successor's record for. */
  spentLongAgo: string
  kids: { signing: string; waiting: string; es384: string; retired: string }
  /** unix seconds */
  authTime: number
}

export interface GoSession {
  sid: string
  person: string
  client: string
  /** Refresh tokens: the live one, and the one it took the place of. */
  live: string
  spent: string
  accessToken: string
  idToken: string
}

/** Where and when: the table is written as that service would have left it at `now` (unix ms), having run for a while. */
export interface Setting {
  now: number
  issuer: string
  instance: string
}

/**
 * Writes the table of a Go service, byte for byte as it did: colon keys, uuids, RFC 3339 with nanoseconds and an offset, empty strings, nulls
 * for empty lists, zero times, and the sets it listed sessions by. Ada is signed in at demo, native (a device) and backend, Grace at demo.
 */
export async function goRecords(adapters: Adapters, setting: Setting): Promise<GoTable> {
  const writer = goWriter(adapters)
  const signers = await writeKeys(writer, setting)
  const at = Math.floor(setting.now / 1000)
  const authTime = at - 20 * MINUTE
  const cookies = { ada: cookie(), grace: cookie() }
  const signIns = { ada: await signIn(writer, ADA, cookies.ada, authTime), grace: await signIn(writer, GRACE, cookies.grace, authTime) }
  const open = (person: string, client: string, sso: string, how: string) =>
    openSession(writer, signers, { ...setting, person, client, sso, how, authTime, at })
  const sessions = {
    demo: await open(ADA, 'demo', signIns.ada, 'code'),
    native: await open(ADA, 'native', '', 'device'),
    backend: await open(ADA, 'backend', signIns.ada, 'code'),
    graces: await open(GRACE, 'demo', signIns.grace, 'code'),
  }
  const spentLongAgo = crypto.randomUUID()
  await writer.put(`issuer:session-rotated:${await sha256Hex(spentLongAgo)}`, sessions.demo.live, 30)
  await writer.put(`issuer:held:${ADA}`, { groups: ['staff@acme.example'], at: instant(authTime) }, 4 * HOUR)
  await writer.put('issuer:kms:state-secret-fingerprint', 'q83vEjRWeJCrze8SNFZ4kA', 365 * 24 * HOUR)
  return { sessions, cookies, signIns, spentLongAgo, kids: signers.kids, authTime }
}

interface GoWriter extends Pick<Adapters, 'sealer'> {
  put(key: string, value: object | string, ttl: number): Promise<void>
  add(set: string, member: string, ttl: number): Promise<void>
}

function goWriter({ state, index, sealer }: Adapters): GoWriter {
  return {
    sealer,
    async put(key, value, ttl) {
      await state.put(key, utf8(typeof value === 'string' ? value : JSON.stringify(value)), ttl)
    },
    add: (set, member, ttl) => index.add(set, member, ttl),
  }
}

interface Signers {
  kids: GoTable['kids']
  sign(alg: 'ES256' | 'ES384', claims: object): Promise<string>
}

/** Two rings: ES256 with the key that signs, sealed as older entries are, and one that waits; ES384 as newer entries are. */
async function writeKeys(writer: GoWriter, { now, instance }: Setting): Promise<Signers> {
  const at = Math.floor(now / 1000)
  const kids = { signing: kid(), waiting: kid(), es384: kid(), retired: kid() }
  const made = { seenAt: at - 10 * HOUR, activateAt: at - 10 * HOUR + 15 * MINUTE }
  const stated = { instance, purpose: 'sign' }
  const es256 = await ringKey(writer, 'ES256', kids.signing, made)
  await ringKey(writer, 'ES256', kids.waiting, { seenAt: at - MINUTE, activateAt: at + 14 * MINUTE }, stated)
  const es384 = await ringKey(writer, 'ES384', kids.es384, made, stated)
  await writer.put(`issuer:keyring:retired:ES256:${kids.retired}`, '1', 365 * 24 * HOUR)
  return {
    kids,
    async sign(alg, claims) {
      const [kid, pkcs8] = alg === 'ES256' ? [kids.signing, es256] : [kids.es384, es384]
      const key = await importPKCS8(`-----BEGIN PRIVATE KEY-----\n${encodeBase64(pkcs8)}\n-----END PRIVATE KEY-----`, alg)
      return new CompactSign(utf8(JSON.stringify(claims))).setProtectedHeader({ alg, kid, typ: 'JWT' }).sign(key)
    },
  }
}

async function ringKey(
  { sealer, put, add }: GoWriter,
  alg: 'ES256' | 'ES384',
  id: string,
  when: { seenAt: number; activateAt: number },
  context?: SealContext,
): Promise<Bytes> {
  const { publicKey, pkcs8 } = await generateKeyPair(alg)
  const under = context ?? ({ purpose: 'sluis-signing', alg, kid: id } as unknown as SealContext)
  const wrapped = encodeBase64(await sealer.seal(pkcs8, under))
  const jwk = { use: 'sig', ...publicKey, kid: id, alg }
  const entry = { id, jwk, alg, seenAt: instant(when.seenAt), activateAt: instant(when.activateAt), wrapped }
  await put(`issuer:keyring:entry:${alg}:${id}`, context === undefined ? entry : { ...entry, context }, KEYRING)
  await add(`issuer:keyring:index:${alg}`, id, KEYRING)
  return pkcs8
}

async function signIn({ put, add }: GoWriter, identity: string, value: string, authTime: number): Promise<string> {
  const id = crypto.randomUUID()
  const cookie_hash = await labelledDigestHex('sluis issuer sso-cookie v1', value)
  const record = { id, identity, how: 'google', auth_time: instant(authTime), expires_at: instant(authTime + REFRESH), cookie_hash }
  await put(`issuer:sso:${id}`, record, REFRESH - 20 * MINUTE)
  await put(`issuer:sso-cookie:${cookie_hash}`, id, REFRESH - 20 * MINUTE)
  await add(`issuer:sso-of:${identity}`, id, REFRESH)
  await add('issuer:sso', id, REFRESH)
  await add(`issuer:sso-clients:${id}`, 'demo', REFRESH)
  return id
}

interface Opened extends Setting {
  person: string
  client: string
  /** Empty for a session without a sign-in. */
  sso: string
  how: string
  authTime: number
  /** unix seconds: when it was last refreshed, ten seconds ago */
  at: number
}

async function openSession(writer: GoWriter, signers: Signers, of: Opened): Promise<GoSession> {
  const { person, client, authTime, at } = of
  const [sid, live, spent] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
  const { put, add } = writer
  await put(`issuer:session-token:${await sha256Hex(live)}`, sid, REFRESH - 10)
  const mark = await writeSpentMark(spent, { at: (at - 10) * 1000, successor: live, sid }, { bytes })
  await put(`issuer:session-token:${await sha256Hex(spent)}`, new TextDecoder().decode(mark), authTime + 24 * HOUR - at)
  await put(`issuer:session:${sid}`, sessionRecord(sid, of), REFRESH - 10)
  for (const set of [`issuer:sessions-of:${person}`, `issuer:sessions-for:${client}`, 'issuer:sessions']) await add(set, sid, 2 * REFRESH)

  const { accessToken, idToken } = await mint(writer, signers, sid, of)
  return { sid, person, client, live, spent, accessToken, idToken }
}

function sessionRecord(sid: string, { person, client, sso, how, authTime, at }: Opened): object {
  return {
    ...{ id: sid, identity: person, client_id: client, how, method: 'google' },
    ...{ scopes: ['openid', 'email', 'offline_access'], resource: '', sso },
    auth_time: instant(authTime),
    issued_at: instant(authTime + 1),
    expires_at: instant(at - 10 + REFRESH),
    last_refreshed: instant(at - 10),
    involved: false,
    indexed_until: '0001-01-01T00:00:00Z',
  }
}

async function mint({ put }: GoWriter, { sign }: Signers, sid: string, { issuer, person, client, authTime, at }: Opened) {
  const jti = crypto.randomUUID()
  const standing = { iss: issuer, sub: person, aud: [client], iat: at - 10, exp: at - 10 + HOUR }
  const groups = ['app:demo:user']
  await put(
    `issuer:token:${jti}`,
    {
      ...{ id: jti, subject: person, clientID: client, audience: [client], scopes: ['openid', 'email', 'offline_access'] },
      ...{ claims: { groups }, expires: instant(at - 10 + HOUR), givenName: 'Ada', familyName: '', session: sid },
    },
    HOUR - 10,
  )
  return {
    accessToken: await sign('ES256', { ...standing, jti, client_id: client, groups, name: 'Ada' }),
    idToken: await sign('ES384', { ...standing, azp: client, auth_time: authTime, email: person, email_verified: true, groups, sid }),
  }
}

/** RFC 3339 as Go writes it, in the zone its host happened to have. */
function instant(seconds: number): string {
  return `${new Date((seconds + HOUR) * 1000).toISOString().slice(0, 19)}.123456789+01:00`
}

function cookie(): string {
  return encodeBase64url(bytes(32))
}

function kid(): string {
  return encodeBase64url(bytes(16))
}

function bytes(length: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(length))
}
