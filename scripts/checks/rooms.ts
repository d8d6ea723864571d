import type { IRegularForbiddenRuleType } from 'dependency-cruiser'

/**
 * The rooms of src/, outermost first. A room imports only rooms of later rows, and its own: none beside it in its row.
 * Why it is so: docs/design.md, "The house".
 */
export const rows = [
  ['console', 'ops'],
  ['controllers', 'backup'],
  ['issuer', 'signin'],
  ['logout'],
  ['keyring', 'directory', 'policy', 'ticks'],
  ['records'],
  ['http'],
  ['pages', 'audit', 'telemetry'],
  ['ports', 'crypto', 'config'],
] as const

const TESTS = '\\.test\\.tsx?$|^test/'

/** Folders of src/ that are in no row: adapters and browser have rules of their own, and compose is a part of compose.ts. */
export const besides = ['adapters', 'browser', 'compose'] as const

/** The rules of imports, for dependency-cruiser. */
export function importRules(): IRegularForbiddenRuleType[] {
  return [
    forbid('no-circle', {}, { circular: true }),
    ...rows.flatMap((row, at) => row.map((room) => roomRule(room, rows.slice(at + 1).flat()))),
    adapterRule(),
    forbid(
      'adapters-are-composed',
      { path: '^src/', pathNot: [TESTS, '^src/adapters/', '^src/(compose|worker)\\.ts$', '^src/compose/'] },
      { path: '^src/adapters/' },
    ),
    forbid(
      'worker-takes-only-durable-objects',
      { path: '^src/worker\\.ts$' },
      { path: '^src/adapters/', pathNot: '^src/adapters/(durable-object|sealed|object)/' },
    ),
    forbid(
      'browser-is-alone',
      { path: '^src/browser/', pathNot: TESTS },
      { path: '^(src|scripts|test)/', pathNot: '^src/(browser|crypto)/' },
    ),
    forbid('parts-of-compose', { path: '^src/', pathNot: [TESTS, '^src/compose'] }, { path: '^src/compose/' }),
    forbid('nothing-imports-browser', { path: '^src/', pathNot: [TESTS, '^src/browser/'] }, { path: '^src/browser/' }),
    forbid('source-stands-without-tests-and-scripts', { path: '^src/', pathNot: TESTS }, { path: ['^scripts/', TESTS] }),
    forbid(
      'scripts-run-in-node',
      { path: '^scripts/', pathNot: TESTS },
      {
        path: ['^src/(compose|app|worker)\\.ts$', '^src/compose/', '^src/pages/', '^src/adapters/durable-object/', '^test/'],
        pathNot: '^test/(aws-emulator|google)/',
      },
    ),
    forbid(
      'worker-ships-no-dev-dependency',
      { path: '^src/', pathNot: TESTS },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    ),
    forbid('every-import-resolves', {}, { couldNotResolve: true, pathNot: '^(cloudflare:|sluis-)' }),
  ]
}

function roomRule(room: string, inner: readonly string[]): IRegularForbiddenRuleType {
  // signin ends in the authorization request it was for: the one import against the order.
  const exception = room === 'signin' ? ['^src/issuer/authorize/complete\\.tsx?$'] : []
  const allowed = [`^src/${room}/`, ...exception, ...inner.map((name) => `^src/${name}/`), '^src/adapters/'] // adapters have a rule of their own
  return forbid(`${room}-imports-inwards`, { path: `^src/${room}/`, pathNot: TESTS }, { path: '^src/', pathNot: allowed })
}

function adapterRule(): IRegularForbiddenRuleType {
  const allowed = ['^src/(ports|crypto)/', '^src/adapters/aws/', '^src/adapters/$1/']
  return forbid('adapters-import-ports', { path: '^src/adapters/([^/]+)/', pathNot: TESTS }, { path: '^src/', pathNot: allowed })
}

function forbid(name: string, from: IRegularForbiddenRuleType['from'], to: IRegularForbiddenRuleType['to']): IRegularForbiddenRuleType {
  return { name, severity: 'error', from, to }
}
