import { childText, parseXml } from './xml.ts'

/** One page of a bucket's keys. */
export interface Listing {
  keys: string[]
  /** Where the next page begins; null after the last. */
  next: string | null
}

/**
 * The answer of ListObjectsV2.
 *
 * @throws SyntaxError, URIError: it is none, or says that there is more and not where
 */
export function parseListing(xml: string): Listing {
  const root = parseXml(xml)
  if (root.name !== 'ListBucketResult') throw new SyntaxError(`a listing is no <${root.name}>`)
  const isEncoded = childText(root, 'EncodingType') === 'url' // stores that only resemble S3 may not have been able to
  const keys = root.children
    .filter(({ name }) => name === 'Contents')
    .map((row) => {
      const key = childText(row, 'Key')
      if (key === null) throw new SyntaxError('an object without a key')
      return isEncoded ? decodeKey(key) : key
    })
  const next = childText(root, 'IsTruncated') === 'true' ? childText(root, 'NextContinuationToken') : null
  if (childText(root, 'IsTruncated') === 'true' && !next) throw new SyntaxError('there is a next page, and no token for it')
  return { keys, next }
}

/** S3 encodes as forms do: a plus is a space. */
function decodeKey(key: string): string {
  return decodeURIComponent(key.replaceAll('+', '%20'))
}
