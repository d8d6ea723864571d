import { DurableObject } from 'cloudflare:workers'
import type { Bytes } from '../../ports/platform.ts'

/** A sealed value and the version it was sealed for. */
export interface SealedValue {
  sealed: Bytes
  version: string
}

export interface SealedSecret extends SealedValue {
  /** unix milliseconds, by the clock of the Worker that wrote it */
  modified: number
  previous?: SealedValue
}

/** A write as the Worker sends it, twice when it must: the version it drew makes the second a repeat. */
export interface SealedWrite extends SealedValue {
  path: string
  modified: number
}

export type ConditionalOutcome = 'written' | 'conflict' | 'absent'

const SCHEMA = `CREATE TABLE IF NOT EXISTS secret (
  path TEXT PRIMARY KEY,
  sealed BLOB NOT NULL,
  version TEXT NOT NULL,
  modified INTEGER NOT NULL,
  previous_sealed BLOB,
  previous_version TEXT
)`

type Row = {
  sealed: ArrayBuffer
  version: string
  modified: number
  previous_sealed: ArrayBuffer | null
  previous_version: string | null
}

/**
 * Where an instance's secrets are kept: rows of a path and its two newest values, sealed by the Worker before they
 * travel, so that neither this object nor its storage ever holds one in the clear. Paths are checked by the caller.
 */
export class SealedSecrets extends DurableObject {
  constructor(state: DurableObjectState, env: Cloudflare.Env) {
    super(state, env)
    state.storage.sql.exec(SCHEMA)
  }

  read(path: string, withPrevious: boolean): SealedSecret | null {
    const row = this.row(path)
    if (!row) return null
    const secret: SealedSecret = { sealed: new Uint8Array(row.sealed), version: row.version, modified: row.modified }
    if (withPrevious && row.previous_sealed && row.previous_version !== null) {
      secret.previous = { sealed: new Uint8Array(row.previous_sealed), version: row.previous_version }
    }
    return secret
  }

  /** A write that has landed is not applied again, also when another has succeeded it meanwhile. */
  put({ path, sealed, version, modified }: SealedWrite): void {
    this.ctx.storage.sql.exec(
      `INSERT INTO secret (path, sealed, version, modified) VALUES (?, ?, ?, ?)
       ON CONFLICT (path) DO UPDATE SET previous_sealed = sealed, previous_version = version,
         sealed = excluded.sealed, version = excluded.version, modified = excluded.modified
       WHERE version <> excluded.version AND previous_version IS NOT excluded.version`,
      path,
      sealed,
      version,
      modified,
    )
  }

  /** Writes only over `expected`, null being "absent". The statement is the gate; the read after it only explains a refusal. */
  putIfVersion({ path, sealed, version, modified }: SealedWrite, expected: string | null): ConditionalOutcome {
    const { sql } = this.ctx.storage
    const written =
      expected === null
        ? sql.exec(
            `INSERT INTO secret (path, sealed, version, modified) VALUES (?, ?, ?, ?) ON CONFLICT (path) DO NOTHING RETURNING version`,
            path,
            sealed,
            version,
            modified,
          )
        : sql.exec(
            `UPDATE secret SET previous_sealed = sealed, previous_version = version, sealed = ?, version = ?, modified = ?
             WHERE path = ? AND version = ? RETURNING version`,
            sealed,
            version,
            modified,
            path,
            expected,
          )
    if (written.toArray().length > 0) return 'written'

    const row = this.row(path)
    if (!row) return 'absent'
    return row.version === version || row.previous_version === version ? 'written' : 'conflict'
  }

  remove(path: string): void {
    this.ctx.storage.sql.exec('DELETE FROM secret WHERE path = ?', path)
  }

  /** Paths that start with `prefix`, which is empty or ends in `/`, in order. */
  list(prefix: string): string[] {
    const { sql } = this.ctx.storage
    // '0' is the character after '/': a path's grammar is ASCII, and SQLite compares its bytes
    const paths =
      prefix === ''
        ? sql.exec<{ path: string }>('SELECT path FROM secret ORDER BY path')
        : sql.exec<{ path: string }>(
            'SELECT path FROM secret WHERE path >= ? AND path < ? ORDER BY path',
            prefix,
            `${prefix.slice(0, -1)}0`,
          )
    return paths.toArray().map(({ path }) => path)
  }

  private row(path: string): Row | undefined {
    return this.ctx.storage.sql
      .exec<Row>('SELECT sealed, version, modified, previous_sealed, previous_version FROM secret WHERE path = ?', path)
      .toArray()[0]
  }
}
