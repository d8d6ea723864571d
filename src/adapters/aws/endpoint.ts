import type { AwsService } from './aws.ts'

/** The address of a service of the JSON protocol, which is also the URL of its every call. */
export function jsonEndpoint(service: Exclude<AwsService, 's3'>, region: string, override?: string): string {
  return override === undefined ? `https://${service}.${region}.${domain(region)}/` : withSlash(override)
}

/**
 * The address under which a bucket's keys stand, with its last slash. An endpoint that is not Amazon's takes the bucket in the path, since
 * `<bucket>.localhost` resolves nowhere; so does a bucket with a dot in its name, whose host the certificate of `*.s3.<region>` does not cover.
 */
export function bucketEndpoint(bucket: string, region: string, override?: string): string {
  if (override !== undefined) return `${withSlash(override)}${encodeURIComponent(bucket)}/`
  const host = `s3.${region}.${domain(region)}`
  return bucket.includes('.') ? `https://${host}/${bucket}/` : `https://${bucket}.${host}/`
}

/** The partition of China has a domain of its own. */
function domain(region: string): string {
  return region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
}

function withSlash(endpoint: string): string {
  return `${endpoint.replace(/\/+$/, '')}/`
}
