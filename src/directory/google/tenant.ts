import type { GoogleClient, Tenant } from './client.ts'
import { GoogleError } from './google-error.ts'

/** Whose directory a client reads. @throws GoogleError tenant: of another Workspace than the one its key is kept for */
export async function sameTenant(workspace: string, client: GoogleClient): Promise<Tenant> {
  const tenant = await client.tenant()
  if (tenant.id !== workspace) throw new GoogleError('tenant', 'Google: the key opens another Workspace than this one')
  return tenant
}
