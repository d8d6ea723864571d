import type { Page } from './layout.tsx'

export interface StartProps {
  readonly version: string
  readonly instance: string
  readonly issuer: string
  /** Whom the picker offers; nobody where there is no picker: a directory is not for whoever opens a page. */
  readonly people: readonly { readonly email: string; readonly name: string; readonly groups: readonly string[] }[]
  readonly clients: readonly { readonly id: string; readonly name: string; readonly kind: string }[]
  /** File names, as a developer finds them in the repository. */
  readonly documents: readonly string[]
}

/** What is running here, for the developer who just started it. */
export function startPage({ version, instance, issuer, people, clients, documents }: StartProps): Page {
  return {
    title: 'Start',
    wide: true,
    body: (
      <>
        <h1>It is running</h1>
        <p class="lead">
          An OpenID Connect issuer at <code>{issuer}</code>
        </p>
        <p>
          <a class="button primary" href="/demo#start">
            Sign in with the demo client
          </a>
        </p>
        <h2>Addresses</h2>
        <ul class="links">
          <Link href="/.well-known/openid-configuration">Discovery</Link>
          <Link href="/keys">Signing keys</Link>
          <Link href="/healthz">Health</Link>
          <Link href="/readyz">Readiness</Link>
        </ul>
        {people.length === 0 ? null : <People people={people} />}
        <Clients clients={clients} />
        <h2>Read and change</h2>
        <ul class="files">
          {documents.map((name) => (
            <li key={name}>
              <code>{name}</code>
            </li>
          ))}
        </ul>
        <p class="quiet small">
          Version <code>{version}</code>, instance <code>{instance}</code>
        </p>
      </>
    ),
  }
}

function Link({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <li>
      <a href={href}>{children}</a> <code>{href}</code>
    </li>
  )
}

function People({ people }: Pick<StartProps, 'people'>) {
  return (
    <>
      <h2>People who can sign in</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Address</th>
            <th scope="col">Directory groups</th>
          </tr>
        </thead>
        <tbody>
          {people.map((person) => (
            <tr key={person.email}>
              <td>{person.name}</td>
              <td>{person.email}</td>
              <td>{person.groups.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

function Clients({ clients }: Pick<StartProps, 'clients'>) {
  return (
    <>
      <h2>Clients</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Id</th>
            <th scope="col">Name</th>
            <th scope="col">Kind</th>
          </tr>
        </thead>
        <tbody>
          {clients.map((client) => (
            <tr key={client.id}>
              <td>
                <code>{client.id}</code>
              </td>
              <td>{client.name}</td>
              <td>{client.kind}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}
