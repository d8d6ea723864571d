import { Hono } from 'hono'
import { needsFlush, openAudit } from './audit/audit.ts'
import type { Env, Services } from './compose.ts'
import { answerError } from './http/answer-error.ts'
import { cors } from './http/cors.ts'
import type { HttpEnv } from './http/env.ts'
import { securityHeaders } from './http/headers.ts'
import { issuerHost } from './http/host.ts'
import { allowedMethods } from './http/method.ts'
import { pathTable } from './http/path-table.ts'
import { notFound } from './http/refusal.ts'
import { requestId } from './http/request-id.ts'
import { requestLog } from './http/request-log.ts'
import { account, endOnAccount } from './issuer/account.ts'
import { authorize } from './issuer/authorize/authorize.ts'
import { answerDevice, devicePage } from './issuer/device/device.ts'
import { deviceAuthorization } from './issuer/device/device-authorization.ts'
import { authorizationServerMetadata, openidConfiguration } from './issuer/discovery.ts'
import { endpoints } from './issuer/endpoints.ts'
import { healthz, readyz } from './issuer/health.ts'
import { introspect } from './issuer/introspect.ts'
import type { Issuer } from './issuer/issuer.ts'
import { keys } from './issuer/keys.ts'
import { revoke } from './issuer/revoke.ts'
import { deleteSession, deleteSessions, listSessions } from './issuer/sessions/api.ts'
import { askToSignOut, endSession, signedOut, signOutHere } from './issuer/sign-out.ts'
import { demoClient, startPage } from './issuer/start-page.ts'
import { token } from './issuer/token/token.ts'
import { userinfo } from './issuer/userinfo.ts'
import { type TellingParts, tellClients } from './logout/telling.ts'
import { ops } from './ops/ops.ts'
import type { Trigger } from './ports/trigger.ts'
import type { Ending } from './records/ending.ts'
import { chooser } from './signin/chooser.ts'
import { completePassword } from './signin/password/complete.ts'
import { finishPassword } from './signin/password/finish.ts'
import { startPassword } from './signin/password/start.ts'
import { picker } from './signin/picker/picker.ts'
import { upstreamCallback } from './signin/upstream/callback.ts'
import { startUpstream } from './signin/upstream/start.ts'
import { measuredIndex, measuredState, type PortCalls } from './telemetry/measured-ports.ts'
import { budgetOf } from './ticks/budget.ts'

type Handler = (request: Request, issuer: Issuer, services: Services, env: Env) => Response | Promise<Response>

interface Route {
  path: string
  methods: readonly ('GET' | 'POST' | 'DELETE')[]
  handler: Handler
  /** Pages of any origin may call it (CORS). */
  open?: true
  /** Only programs call it: its errors are JSON, whatever they accept. */
  program?: true
  /** Answers with another state secret than the instance's too: it neither signs nor writes for anybody, or it is the way to mend that. */
  unguarded?: true
  /** Its GET begins or completes something, so it has no HEAD. */
  acts?: true
}

/** Every URL of the service. */
const routes: readonly Route[] = [
  // Clients
  { path: '/.well-known/openid-configuration', methods: ['GET'], handler: openidConfiguration, open: true, program: true, unguarded: true },
  {
    path: '/.well-known/oauth-authorization-server',
    methods: ['GET'],
    handler: authorizationServerMetadata,
    open: true,
    program: true,
    unguarded: true,
  },
  { path: endpoints.jwks, methods: ['GET'], handler: keys, open: true, program: true, unguarded: true },
  { path: endpoints.authorization, methods: ['GET', 'POST'], handler: authorize, acts: true },
  { path: endpoints.token, methods: ['POST'], handler: token, open: true, program: true },
  { path: endpoints.userinfo, methods: ['GET', 'POST'], handler: userinfo, open: true, program: true },
  { path: endpoints.revocation, methods: ['POST'], handler: revoke, open: true, program: true },
  { path: endpoints.introspection, methods: ['POST'], handler: introspect, program: true },
  { path: endpoints.deviceAuthorization, methods: ['POST'], handler: deviceAuthorization, program: true },
  { path: endpoints.endSession, methods: ['GET', 'POST'], handler: endSession },
  // People
  { path: '/', methods: ['GET'], handler: (_request, issuer, services) => startPage(issuer, services) },
  { path: '/demo', methods: ['GET'], handler: (_request, issuer) => demoClient(issuer) },
  { path: '/login', methods: ['GET'], handler: (request, issuer, { ways }) => chooser(request, issuer, ways) },
  { path: '/login/picker', methods: ['POST'], handler: (request, issuer, { ways }) => picker(request, issuer, ways) },
  {
    path: '/login/recovery/start',
    methods: ['POST'],
    handler: (request, issuer, { ways }) => startPassword(request, issuer, ways),
    program: true,
  },
  {
    path: '/login/recovery/finish',
    methods: ['POST'],
    handler: (request, issuer, { ways }) => finishPassword(request, issuer, ways),
    program: true,
  },
  { path: '/login/recovery/complete', methods: ['POST'], handler: (request, issuer, { ways }) => completePassword(request, issuer, ways) },
  {
    path: '/login/:provider/start',
    methods: ['GET'],
    handler: (request, issuer, { ways }) => startUpstream(request, issuer, ways),
    acts: true,
  },
  {
    path: '/login/:provider/callback',
    methods: ['GET'],
    handler: (request, issuer, { ways }) => upstreamCallback(request, issuer, ways),
    acts: true,
  },
  { path: '/logout', methods: ['GET'], handler: askToSignOut },
  { path: '/logout', methods: ['POST'], handler: signOutHere },
  { path: '/signed-out', methods: ['GET'], handler: signedOut },
  { path: '/device', methods: ['GET'], handler: devicePage },
  { path: '/device', methods: ['POST'], handler: answerDevice },
  { path: '/account', methods: ['GET'], handler: account, acts: true },
  { path: '/account', methods: ['POST'], handler: endOnAccount },
  { path: '/api/sessions', methods: ['GET'], handler: listSessions, program: true },
  { path: '/api/sessions', methods: ['DELETE'], handler: deleteSessions, program: true },
  { path: '/api/sessions/:sid', methods: ['DELETE'], handler: deleteSession, program: true },
  { path: '/assets/:name', methods: ['GET'], handler: (request, _issuer, _services, { ASSETS }) => ASSETS.fetch(request), unguarded: true },
  // Operators
  { path: '/healthz', methods: ['GET'], handler: healthz, program: true, unguarded: true },
  {
    path: '/readyz',
    methods: ['GET'],
    handler: (_request, issuer, { readiness }) => readyz(issuer, readiness),
    program: true,
    unguarded: true,
  },
  {
    path: '/ops',
    methods: ['POST'],
    handler: (request, { audit }, { operations }) => ops(request, { ...operations, audit }),
    program: true,
    unguarded: true,
  },
]

/** The service as one Hono app: what every route shares, then the table. */
export function createApp(services: Services): Hono<HttpEnv & { Bindings: Env }> {
  const { issuer, meter } = services
  const flushes = needsFlush(services.audit)
  meter.know(
    'route',
    routes.map(({ path }) => path),
  )
  const program = pathTable(Object.fromEntries(routes.map(({ path, program = false }) => [path, program])))
  const isProgram = (path: string) => program(path) === true
  const app = new Hono<HttpEnv & { Bindings: Env }>()

  app.use(requestId(issuer), requestLog({ clock: issuer.clock, meter }), securityHeaders(issuer.url))
  app.use(cors(routes.flatMap(({ path, open }) => (open === true ? [path] : []))))
  app.use(issuerHost(issuer.url), allowedMethods(methodsByPath(), actingPaths()))
  for (const { path, methods, handler, unguarded = false } of routes) {
    app.on([...methods], path, async (c) => {
      const later = (work: Promise<void>) => c.executionCtx.waitUntil(work.finally(() => meter.write()))
      const own = ofRequest(services, c.get('requestId'), c.get('portCalls'), later)
      try {
        if (!unguarded) await services.stateSecret.pass()
        return await handler(c.req.raw, own, services, c.env)
      } finally {
        if (flushes) later(Promise.all([own.audit.flush(), issuer.audit.flush()]).then(() => {}))
      }
    })
  }
  app.notFound(() => {
    throw notFound()
  })
  app.onError((error, c) =>
    answerError(error, c.req.raw, { site: issuer.site, requestId: c.get('requestId'), log: c.get('log'), isProgram }),
  )
  return app
}

function methodsByPath(): Record<string, string[]> {
  const table: Record<string, string[]> = {}
  for (const { path, methods } of routes) table[path] = [...(table[path] ?? []), ...methods]
  return table
}

function actingPaths(): string[] {
  return routes.flatMap(({ path, acts }) => (acts === true ? [path] : []))
}

/**
 * The issuer as one request sees it: its log lines and audit events name the request, and all of it happens at one instant, so that nothing
 * expires between two looks at the clock. What is told to clients afterwards goes by the real one.
 *
 * The instant is that of the first look, which every handler takes after it has read the body: were it that of the first byte, who holds a
 * request open could present in the past what comes into their hands later, such as a refresh token that has been spent since.
 */
function ofRequest(
  { issuer, subrequests, audit, auditing, telling, trigger }: Services,
  requestId: string,
  asked: PortCalls,
  waitUntil: (work: Promise<void>) => void,
): Issuer {
  let instant: number | undefined
  const log = issuer.log.with({ request_id: requestId })
  const calls = budgetOf(subrequests)
  return {
    ...issuer,
    state: measuredState(issuer.state, asked),
    index: measuredIndex(issuer.index, asked),
    clock: {
      now() {
        instant ??= issuer.clock.now()
        return instant
      },
    },
    requestId,
    log,
    audit: openAudit(audit, { ...auditing, log, requestId }),
    calls,
    tell: (ending) => waitUntil(tellAfterwards(ending, { ...telling, log, calls }, trigger)),
  }
}

/** What fails here is the tick's to do, and what there were too few calls for is to be done at once. */
async function tellAfterwards(ending: Ending, parts: TellingParts, trigger: Trigger): Promise<void> {
  try {
    if ((await tellClients(ending, parts)) === 'more' || ending.swept !== true) await trigger.notify('logout:all')
  } catch (error) {
    parts.log.error('ending.unfinished', { error })
  }
}
