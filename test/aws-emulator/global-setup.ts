import type { TestProject } from 'vitest/node'
import type {} from '../flows/provided.ts'
import { type AwsEmulator, startAwsEmulator } from './emulator.ts'

const running: AwsEmulator[] = []

/** One emulator for all tests of the whole service, which make tables of their own; and one whose faults and counts are one file's alone. */
export async function setup(project: TestProject): Promise<void> {
  project.provide('awsEmulator', await start())
  project.provide('awsOfOneFile', await start())
}

export async function teardown(): Promise<void> {
  await Promise.all(running.map((emulator) => emulator.stop()))
}

async function start() {
  const credentials = { accessKeyId: 'AKIATESTS', secretAccessKey: 'secret of the tests' }
  const emulator = await startAwsEmulator({ credentials: [credentials], keyAliases: ['alias/sluis-tests'] })
  running.push(emulator)
  return { url: emulator.url, region: emulator.region, credentials }
}
