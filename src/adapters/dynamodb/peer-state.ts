import type { Module } from '../../ports/layout5.ts'
import type { Clock } from '../../ports/platform.ts'
import type { JsonClient } from '../aws/aws.ts'
import { type PeerState, readingOf } from './reading.ts'
import { openTable } from './table.ts'
import { moduleTables, type TableNames } from './tables.ts'

export type { PeerState } from './reading.ts'

export interface PeerStateOptions {
  /** With the credentials of the module that reads, which its policy grants the peer's table. */
  client: JsonClient
  instance: string
  /** Whose table is read. */
  peer: Module
  clock: Clock
  tableNames?: TableNames
}

/** Another module's table, to read and nothing else. The kinds that every table has (leases, notifications, ...) are the peer's too. */
export function peerState({ client, instance, peer, clock, tableNames = {} }: PeerStateOptions): PeerState {
  return readingOf(new Map([[peer, openTable(client, moduleTables(instance, tableNames)[peer])]]), clock)
}
