import { nowSeconds } from '../../ports/expiry.ts'
import type { Rev } from '../../ports/state.ts'
import { type Item, MEMBER } from './item.ts'

/** What must hold of the item that stands there for a write to land. Every name is a placeholder: no word is reserved among those. */
export interface Condition {
  ConditionExpression: string
  ExpressionAttributeNames: Record<string, string>
  ExpressionAttributeValues?: Item
  /** The item that was in the way comes with the refusal, so that what it is needs no second read. */
  ReturnValuesOnConditionCheckFailure?: 'ALL_OLD'
}

/** Nothing stands there, or what is dead at `now` (unix ms): the engine removes the dead late, by days. */
export function nothingLive(now: number): Condition {
  return {
    ConditionExpression: 'attribute_not_exists(#pk) OR (attribute_exists(#expires) AND #expires <= :now)',
    ExpressionAttributeNames: { '#pk': 'pk', '#expires': 'expires' },
    ExpressionAttributeValues: { ':now': seconds(now) },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}

/** The record of this revision, live at `now`. */
export function liveAt(rev: Rev, now: number): Condition {
  return {
    ConditionExpression: '#rev = :rev AND (attribute_not_exists(#expires) OR #expires > :now)',
    ExpressionAttributeNames: { '#rev': 'rev', '#expires': 'expires' },
    ExpressionAttributeValues: { ':rev': { N: rev }, ':now': seconds(now) },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}

/** No member of an Index set: State deletes only its own. */
export const noMember: Condition = { ConditionExpression: 'attribute_not_exists(#k)', ExpressionAttributeNames: { '#k': 'k' } }

/** A member: Index deletes only its own. */
export const aMember: Condition = {
  ConditionExpression: '#k = :member',
  ExpressionAttributeNames: { '#k': 'k' },
  ExpressionAttributeValues: { ':member': { S: MEMBER } },
}

function seconds(now: number): { N: string } {
  return { N: String(nowSeconds(now)) }
}
