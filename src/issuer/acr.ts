/** The person was proved by the company directory's own means. */
export const DIRECTORY_ACR = 'urn:sluis:acr:directory'

/** Not by the company directory's means, and for when those are gone: the recovery account's password. */
export const RECOVERY_ACR = 'urn:sluis:acr:recovery'
