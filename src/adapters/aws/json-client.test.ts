import { describe, expect, it } from 'vitest'
import { jsonClient } from './json-client.ts'
import { scriptedService } from './scripted-service.ts'

const OK = { status: 200, body: '{}' } as const

describe('a call of the JSON protocol', () => {
  it('is a POST to the root of the service in its region, with the target and version of its protocol', async () => {
    for (const [service, target, type] of [
      ['dynamodb', 'DynamoDB_20120810.Do', 'application/x-amz-json-1.0'],
      ['ssm', 'AmazonSSM.Do', 'application/x-amz-json-1.1'],
      ['kms', 'TrentService.Do', 'application/x-amz-json-1.1'],
    ] as const) {
      const scripted = scriptedService([OK])
      await jsonClient({ ...scripted.options, service }).call({ operation: 'Do', input: { Name: 'é', Absent: undefined } })
      expect(scripted.sent).toMatchObject([
        { method: 'POST', url: `https://${service}.eu-west-1.amazonaws.com/`, body: '{"Name":"é"}', redirect: 'manual' },
      ])
      const headers = scripted.sent[0]?.headers
      expect(headers?.get('x-amz-target')).toBe(target)
      expect(headers?.get('content-type')).toBe(type)
      expect(headers?.get('authorization')).toMatch(
        new RegExp(
          `^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/${service}/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=[0-9a-f]{64}$`,
        ),
      )
    }
  })

  it('carries and signs the token of temporary credentials', async () => {
    const scripted = scriptedService([OK])
    const credentials = { ...scripted.options.credentials, sessionToken: 'TOKEN/+=' }
    await jsonClient({ ...scripted.options, credentials, service: 'ssm' }).call({ operation: 'Do', input: {} })
    expect(scripted.sent[0]?.headers.get('x-amz-security-token')).toBe('TOKEN/+=')
    expect(scripted.sent[0]?.headers.get('authorization')).toContain(';x-amz-security-token;')
  })

  it('goes to the endpoint that was given, with or without its last slash, and in China to the domain of China', async () => {
    for (const [region, endpoint, url] of [
      ['eu-west-1', 'http://127.0.0.1:8000', 'http://127.0.0.1:8000/'],
      ['eu-west-1', 'http://127.0.0.1:8000/', 'http://127.0.0.1:8000/'],
      ['cn-north-1', undefined, 'https://kms.cn-north-1.amazonaws.com.cn/'],
    ] as const) {
      const scripted = scriptedService([OK])
      await jsonClient({ ...scripted.options, region, endpoint, service: 'kms' }).call({ operation: 'Do', input: {} })
      expect(scripted.sent).toMatchObject([{ url }])
    }
  })

  it('reads an answer of a whole page, and none over 16 MiB', async () => {
    const page = 'x'.repeat(4 * 1024 * 1024)
    const whole = scriptedService([{ status: 200, body: JSON.stringify({ page }) }])
    expect(await jsonClient({ ...whole.options, service: 'dynamodb' }).call({ operation: 'Query', input: {} })).toEqual({ page })

    const endless = scriptedService([{ status: 200, body: new Uint8Array(16 * 1024 * 1024 + 1).fill(0x20) }])
    const call = { operation: 'Query', input: {}, repeatable: false }
    await expect(jsonClient({ ...endless.options, service: 'dynamodb' }).call(call)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(endless.unread()).toBe(0)
  })
})
