import { describe, expect, it } from 'vitest'
import { random } from '../../../test/conformance/arrange.ts'
import { testClock } from '../../../test/conformance/state/subject.ts'
import { fakeTables } from './fake-tables.ts'
import { dynamodbState } from './state.ts'
import { dynamodbTrigger } from './trigger.ts'

function arrange() {
  const client = fakeTables()
  const clock = testClock()
  const open = (module: 'github' | 'slack') => dynamodbState({ client, instance: 'acme', module, clock, random })
  return { clock, open, trigger: dynamodbTrigger({ state: open('github'), clock }) }
}

describe('a notification', () => {
  it('is a record of its target that holds when it was, and is gone in a minute', async () => {
    const { clock, open, trigger } = arrange()
    await trigger.notify('github:links')
    const found = await open('github').get('notify.github:links')
    expect(new TextDecoder().decode(found?.value)).toBe(new Date(clock.now()).toISOString())
    clock.advance(59_999)
    expect(await open('github').get('notify.github:links')).not.toBeNull()
    clock.advance(1)
    expect(await open('github').get('notify.github:links')).toBeNull()
  })

  it('of one target twice is one, with the later time', async () => {
    const { clock, open, trigger } = arrange()
    await trigger.notify('acme')
    clock.advance(30_000)
    await trigger.notify('acme')
    const { entries } = await open('github').list('notify.')
    expect(entries.map(({ value }) => new TextDecoder().decode(value))).toEqual([new Date(clock.now()).toISOString()])
  })

  it('stays in the table of its module', async () => {
    const { open, trigger } = arrange()
    await trigger.notify('acme')
    expect(await open('slack').list('notify.')).toEqual({ entries: [] })
  })
})
