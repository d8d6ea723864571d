import { personId } from '../ports/keys.ts'
import { createEnding, deleteEnding, type Ending, markSwept, noteProgress } from '../records/ending.ts'
import { drawId } from '../records/ids.ts'
import { listSessionPage } from '../records/sessions.ts'
import { isTold } from './due.ts'
import type { EndingParts } from './ending-parts.ts'
import { isMeant } from './is-meant.ts'
import { sweep } from './sweep.ts'

/** What an ending came to. */
export interface Ended {
  /** How many sessions have ended. */
  sessions: number
  /** The calls ran out before all had: the ticks that follow end the rest. */
  more: boolean
}

/** Steps 2 to 7 of an ending that is written down, as far as the calls go. @throws PortError Unavailable */
export async function carryOut(ending: Ending, parts: EndingParts): Promise<Ended> {
  const { person, which } = ending
  if (person === undefined && which.of === 'client' && isTold(parts.policy, which.client)) return splitUp(ending, parts)
  const { ended, done, page, due } = await sweep(ending, person === undefined ? null : personId(person), parts)
  parts.calls.spend(1)
  if (done && !due) await deleteEnding(parts.state, ending.id)
  else parts.tell(done ? await markSwept(parts.state, ending) : await noteProgress(parts.state, ending, page))
  return { sessions: [...ended.values()].reduce((sum, count) => sum + count, 0), more: !done }
}

/** Everybody's sessions at one client that is to be told: an ending a person, so that each can be taken up, and the client told, by itself. */
async function splitUp(ending: Ending, parts: EndingParts): Promise<Ended> {
  const { state, log, calls, random } = parts
  let sessions = 0
  let begun = 0
  let { page } = ending
  const stop = async (): Promise<Ended> => {
    await noteProgress(state, ending, page)
    return { sessions, more: true }
  }
  do {
    if (calls.left() < A_PAGE) return stop()
    const listed = await listSessionPage(parts, null, page, log)
    calls.spend(2)
    const people = new Set(listed.sessions.filter((session) => isMeant(ending, session)).map(({ identity }) => identity))
    for (const person of people) {
      // What was swept is not listed again, so whoever goes on begins with the rest.
      if (begun > 0 && calls.left() < ROOM) return stop()
      const theirs: Ending = { ...ending, id: drawId(random), person, page: undefined }
      await createEnding(state, theirs)
      calls.spend(1)
      sessions += (await carryOut(theirs, parts)).sessions
      begun++
    }
    page = listed.next
  } while (page !== undefined)
  await deleteEnding(state, ending.id)
  return { sessions, more: false }
}

const A_PAGE = 3 // calls: of sessions in both forms, and to note how far it came
const ROOM = 200 // calls that a person's ending should find: a few groups of sessions, and as much again for telling the client
