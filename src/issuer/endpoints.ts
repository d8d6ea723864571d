/** Where each endpoint is. app.ts routes by it and discovery publishes it, so that metadata can't lie. */
export const endpoints = {
  authorization: '/authorize',
  token: '/token',
  userinfo: '/userinfo',
  revocation: '/revoke',
  introspection: '/introspect',
  deviceAuthorization: '/device_authorization',
  endSession: '/end_session',
  jwks: '/keys',
} as const
