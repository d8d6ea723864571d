/** A hint that a target has work. It may be lost or doubled: lease and schedule make both harmless. */
export interface Trigger {
  notify(target: string): Promise<void>
}
