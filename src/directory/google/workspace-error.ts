import { ownMessage } from '../../telemetry/describe-error.ts'

/** Why a Workspace could not be connected, read or let go, in words for an operator. */
export type WorkspaceProblem = 'unknown_workspace' | 'tenant_mismatch' | 'not_verified' | 'too_large' | 'changed_meanwhile'

export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError'
  readonly [ownMessage] = true
  readonly code: WorkspaceProblem

  constructor(code: WorkspaceProblem, message: string) {
    super(message)
    this.code = code
  }
}
