import { describe, expect, test } from 'vitest'
import { externalAddressProblem } from './external-address.ts'

const ISSUER = 'https://id.acme.example'
const ON_LOOPBACK = 'http://localhost:8787'

const PUBLIC = [
  'https://app.acme.example/logout?x=1',
  'https://app.acme.example:8443/logout',
  'https://localhost.acme.example/',
  'https://notlocalhost/',
  'https://1.1.1.1/',
  'https://9.255.255.255/',
  'https://11.0.0.0/',
  'https://100.63.255.255/',
  'https://100.128.0.0/',
  'https://172.15.255.255/',
  'https://172.32.0.0/',
  'https://192.167.255.255/',
  'https://192.169.0.0/',
  'https://198.17.255.255/',
  'https://198.20.0.0/',
  'https://223.255.255.255/',
  'https://[2606:4700::1111]/',
  'https://[2001:200::1]/',
  'https://[2a00::]/',
  'https://[3fff:1000::1]/',
]

const SPECIAL_IPV4 = [
  'https://0.0.0.0/',
  'https://0.1.2.3/',
  'https://10.0.0.1/',
  'https://10.255.255.255/',
  'https://100.64.0.0/',
  'https://100.127.255.255/',
  'https://127.0.0.1/',
  'https://127.255.255.254/',
  'https://169.254.169.254/latest/meta-data/',
  'https://172.16.0.0/',
  'https://172.31.255.255/',
  'https://192.0.0.8/',
  'https://192.0.2.1/',
  'https://192.88.99.1/',
  'https://192.168.0.1/',
  'https://192.168.255.255/',
  'https://198.18.0.0/',
  'https://198.19.255.255/',
  'https://198.51.100.7/',
  'https://203.0.113.7/',
  'https://224.0.0.1/',
  'https://239.255.255.255/',
  'https://240.0.0.1/',
  'https://255.255.255.255/',
]

const OTHER_SPELLINGS = [
  'https://2130706433/', // 127.0.0.1 as one number
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://127.1/',
  'https://0177.0.0.1/',
  'https://127.0.0.1./',
  'https://127%2e0.0.1/',
  'https://%31%30.0.0.1/',
  'https://①②⑦.0.0.1/',
  'https://１０.0.0.1/',
  'https://10。0。0。1/',
  'https:\\\\10.0.0.1\\',
  'https:10.0.0.1',
  'https:////10.0.0.1/',
  ' https://10.0.0.1/ ',
  'HTTPS://10.0.0.1:443/',
  'https://10.0\t.0.1/',
  'https://0xa9fea9fe/',
]

const SPECIAL_IPV6 = [
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:a00:1]/',
  'https://[::ffff:1.1.1.1]/',
  'https://[::127.0.0.1]/',
  'https://[64:ff9b::10.0.0.1]/',
  'https://[100::1]/',
  'https://[fc00::1]/',
  'https://[fd12:3456:789a::1]/',
  'https://[fe80::1]/',
  'https://[febf::1]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://[2001::1]/',
  'https://[2001:1ff::1]/',
  'https://[2001:db8::1]/',
  'https://[2002:7f00:1::]/',
  'https://[3fff:fff::1]/',
  'https://[4000::1]/',
]

const THIS_COMPUTER = ['https://localhost/', 'https://LOCALHOST/', 'https://localhost./', 'https://a.localhost/', 'https://a.b.localhost./']

const NOT_HTTPS = [
  'http://app.acme.example/',
  'http://localhost:3000/',
  'ftp://app.acme.example/',
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'blob:https://app.acme.example/x',
  'com.acme.app:/logout',
]

describe('an address that others choose', () => {
  test.each(PUBLIC)('is taken when it is https and on a public host: %s', (address) => {
    expect(externalAddressProblem(address, ISSUER)).toBeNull()
    expect(externalAddressProblem(address, ON_LOOPBACK)).toBeNull()
  })

  test.each([...SPECIAL_IPV4, ...OTHER_SPELLINGS, ...SPECIAL_IPV6])(
    'is no private or special one, however it is spelled: %s',
    (address) => {
      expect(externalAddressProblem(address, ISSUER)).toBe('is an address that is not on the public internet')
    },
  )

  test.each(THIS_COMPUTER)('does not name this computer: %s', (address) => {
    expect(externalAddressProblem(address, ISSUER)).toBe('is on this computer')
  })

  test.each(NOT_HTTPS)('is nothing but https: %s', (address) => {
    expect(externalAddressProblem(address, ISSUER)).toMatch(/^is not https/)
  })

  test.each(['https://ada@app.acme.example/', 'https://ada:secret@app.acme.example/', 'https://:secret@app.acme.example/'])(
    'holds no credentials: %s',
    (address) => {
      expect(externalAddressProblem(address, ISSUER)).toBe('holds a user name or password')
      expect(externalAddressProblem(address.replace('app.acme.example', 'localhost'), ON_LOOPBACK)).toBe('holds a user name or password')
    },
  )

  test.each(['', '/logout', '//app.acme.example/', 'app.acme.example', 'https://', 'https://[fe80::1%25eth0]/', 'https://1.2.3.256/'])(
    'is absolute and parses: %j',
    (address) => {
      expect(externalAddressProblem(address, ISSUER)).toBe('is not an absolute URI')
    },
  )
})

describe('an issuer on loopback', () => {
  test.each(['http://localhost:8787', 'http://127.0.0.1:8787', 'http://[::1]:8787'])('may call loopback, by http too: %s', (issuer) => {
    for (const address of ['http://localhost:3000/out', 'http://127.0.0.1/out', 'http://[::1]:3000/out', 'https://localhost/out']) {
      expect(externalAddressProblem(address, issuer)).toBeNull()
    }
  })

  test.each([
    'http://127.0.0.2/',
    'http://10.0.0.1/',
    'http://a.localhost/',
    'http://app.acme.example/',
    'https://10.0.0.1/',
    'ftp://localhost/',
  ])('may call nothing else that others may not: %s', (address) => {
    expect(externalAddressProblem(address, ON_LOOPBACK)).not.toBeNull()
  })
})
