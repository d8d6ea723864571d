import type { IamPolicy } from './iam.ts'

/** Who may call. */
export interface Credential {
  accessKeyId: string
  secretAccessKey: string
  /** Of temporary credentials: then every request carries it. */
  sessionToken?: string
  /** What it may do; absent: everything. */
  policy?: IamPolicy
}

/** What a test uses that says nothing of credentials. */
export const defaultCredential: Credential = { accessKeyId: 'AKIDEMULATOR', secretAccessKey: 'emulator/secret+key' }
