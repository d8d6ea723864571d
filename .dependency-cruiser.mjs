// For `depcruise` by hand and in editors; `npm run check` reads the same rules from scripts/checks/rooms.ts.
import { cruiseOptions } from './scripts/checks/imports.ts'

const { ruleSet, validate: _, ...options } = cruiseOptions

export default { ...ruleSet, options }
