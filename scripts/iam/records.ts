import type { Module } from '../../src/ports/layout5.ts'
import { type Rule, rules, setRules } from '../../src/ports/layout5-rules.ts'
import { type Place, tableArn } from './place.ts'
import type { Statement } from './policy.ts'

/** A module's own table: its records, those of no module that are each table's, and the maintenance flag, which it only reads. */
export function ownRecords(place: Place, module: Module): Statement[] {
  return [
    {
      Sid: 'Records',
      Effect: 'Allow',
      Action: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:DeleteItem', 'dynamodb:Query'],
      Resource: [tableArn(place, module)],
      Condition: only(kindsWritten(module)),
    },
    {
      Sid: 'MaintenanceFlag',
      Effect: 'Allow',
      Action: ['dynamodb:GetItem'],
      Resource: [tableArn(place, module)],
      Condition: only(kindsOf((rule) => rule.writer === 'restore')),
    },
    { Sid: 'Readiness', Effect: 'Allow', Action: ['dynamodb:DescribeTable'], Resource: [tableArn(place, module)] },
  ]
}

/** The records of other modules a module may read (docs/design.md, "Ports"), and never what is each table's own. */
export function peerRecords(place: Place, peers: readonly Module[]): Statement[] {
  return peers.map((peer) => ({
    Sid: `Peer${peer[0]?.toUpperCase()}${peer.slice(1)}`,
    Effect: 'Allow',
    Action: ['dynamodb:GetItem', 'dynamodb:Query'],
    Resource: [tableArn(place, peer)],
    Condition: only(kindsOf((rule) => rule.module === peer)),
  }))
}

/** Whole tables, read: an export goes through every kind, and no condition on kinds holds for a Scan. */
export function wholeTables(place: Place, modules: readonly Module[]): Statement {
  return {
    Sid: 'AllRecordsRead',
    Effect: 'Allow',
    Action: ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:Scan', 'dynamodb:DescribeTable'],
    Resource: modules.map((module) => tableArn(place, module)),
  }
}

/** Whole tables, written: the maintenance flag too. */
export function restoredTables(place: Place, modules: readonly Module[]): Statement {
  return {
    Sid: 'AllRecordsWritten',
    Effect: 'Allow',
    Action: ['dynamodb:PutItem', 'dynamodb:DeleteItem'],
    Resource: modules.map((module) => tableArn(place, module)),
  }
}

/** The partition keys of what a module writes in its own table, sets included. */
function kindsWritten(module: Module): string[] {
  const sets = module === 'oidc' ? setRules.map(({ kind }) => kind) : []
  return unique([...kindsOf(({ module: owner, writer }) => writer === undefined && isOwn(owner, module)), ...sets])
}

function isOwn(owner: Rule['module'], module: Module): boolean {
  return owner === module || owner === null || owner === 'by target'
}

function kindsOf(wanted: (rule: Rule) => boolean): string[] {
  return unique(rules.filter(wanted).map(({ kind }) => kind))
}

/**
 * Partition keys and no others. ForAllValues is true of a call that names no partition key, so the key is asked for as well: a Scan added
 * to such a statement some day would still be refused.
 */
function only(kinds: string[]): Record<string, Record<string, string | string[]>> {
  return { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': kinds }, Null: { 'dynamodb:LeadingKeys': 'false' } }
}

function unique(kinds: string[]): string[] {
  return [...new Set(kinds)].sort()
}
