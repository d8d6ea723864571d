import { unstable_readConfig } from 'wrangler'

type Config = ReturnType<typeof unstable_readConfig>

// What an environment has of its own: its name, its bucket, its dataset, its counters, where it runs. All else is one Worker, and alike.
const OWN = ['name', 'targetEnvironment', 'placement', 'vars', 'route', 'routes']
const OWN_OF_A_BINDING = ['bucket_name', 'dataset', 'namespace_id']

/** Where `[env.aws]` of a wrangler.toml is another Worker than its top level: bindings, classes, migrations, crons, limits, flags. */
export function checkEnvironments(wranglerToml: string): string[] {
  return compareEnvironments(unstable_readConfig({ config: wranglerToml }), unstable_readConfig({ config: wranglerToml, env: 'aws' }))
}

function compareEnvironments(top: Config, aws: Config): string[] {
  const left = new Map(Object.entries(top))
  const right = new Map(Object.entries(aws))
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((key) => {
    if (OWN.includes(key)) return []
    const [of, and] = [shared(left.get(key)), shared(right.get(key))]
    return of === and ? [] : [`wrangler.toml: ${key} differs: ${of} at the top level, ${and} in [env.aws]`]
  })
}

function shared(value: unknown): string {
  return JSON.stringify(value, (key, inner) => (OWN_OF_A_BINDING.includes(key) ? undefined : inner)) ?? 'nothing'
}
