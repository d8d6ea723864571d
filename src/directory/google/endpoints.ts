/** Where Google is. Other than Google's own only where an operator says so, for tests and development. */
export interface Endpoints {
  /** The token endpoint, which is also the audience of assertions. */
  token: string
  /** The Admin SDK's directory, version 1, without a slash at its end. */
  directory: string
}

export const GOOGLE: Endpoints = {
  token: 'https://oauth2.googleapis.com/token',
  directory: 'https://admin.googleapis.com/admin/directory/v1',
}
