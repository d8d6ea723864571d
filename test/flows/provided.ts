/** Where a test in workerd finds AWS (test/aws-emulator/global-setup.ts). */
export interface ProvidedAws {
  url: string
  region: string
  credentials: { accessKeyId: string; secretAccessKey: string }
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** Shared by all files. Its KMS has the key `alias/sluis-tests`. */
    awsEmulator: ProvidedAws
    /** Another, which only test/crash/aws.test.ts may trouble and count on. */
    awsOfOneFile: ProvidedAws
  }
}
