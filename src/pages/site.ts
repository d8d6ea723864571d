/** What every page says of the service. */
export interface Site {
  /** What people read at the top of every page. */
  readonly name: string
  readonly issuer: string
}
