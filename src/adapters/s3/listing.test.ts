import { describe, expect, it } from 'vitest'
import { parseListing } from './listing.ts'

const page = (inner: string) => `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</ListBucketResult>`
const row = (key: string) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`

describe('a page of a listing', () => {
  it('has its keys decoded, a plus for a space, and the token of the next', () => {
    const xml = page(
      `<EncodingType>url</EncodingType><Prefix>a</Prefix>${row('a+b/%C3%A9%2B%26')}${row('a')}` +
        '<IsTruncated>true</IsTruncated><NextContinuationToken>t&amp;1=</NextContinuationToken>',
    )
    expect(parseListing(xml)).toEqual({ keys: ['a b/é+&', 'a'], next: 't&1=' })
  })

  it('has its keys as they are when it does not say that they are encoded', () => {
    expect(parseListing(page(`${row('a+b&amp;%41')}<IsTruncated>false</IsTruncated>`))).toEqual({ keys: ['a+b&%41'], next: null })
  })

  it('may be empty, and the last whatever token it names', () => {
    const xml = page('<IsTruncated>false</IsTruncated><NextContinuationToken>t</NextContinuationToken>')
    expect(parseListing(xml)).toEqual({ keys: [], next: null })
  })

  it('is refused when it is none, says there is more and not where, or has an object without a key', () => {
    expect(() => parseListing('<html></html>')).toThrow(SyntaxError)
    expect(() => parseListing(page('<IsTruncated>true</IsTruncated>'))).toThrow(SyntaxError)
    expect(() => parseListing(page('<Contents><Size>1</Size></Contents>'))).toThrow(SyntaxError)
    expect(() => parseListing(page(`<EncodingType>url</EncodingType>${row('%E9')}`))).toThrow(URIError)
  })
})
