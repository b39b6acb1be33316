import type { Request, Response } from "./http";
import { verify } from "./jwt";

export const TIMEOUT = 30_000;

export interface Session {
  readonly id: string;
  user?: User;
  refresh(at: Date): Promise<void>;
}

type User = { name: string; roles: Role[] };

export type Handler<T> =
  | ((request: Request) => T)
  | null;

export enum Role {
  Reader = "reader",
  Writer = "writer",
}

/** Checks who asks. */
export abstract class AuthMiddleware implements Middleware {
  private readonly sessions = new Map<string, Session>();

  constructor(private readonly secret: string) {}

  abstract log(line: string): void;

  @traced()
  async verify(request: Request, strict = true): Promise<Session | undefined> {
    const token = request.header("authorization");
    if (!token) return undefined;
    return this.sessions.get(await verify(token, this.secret));
  }

  static create(secret: string): AuthMiddleware;
  static create(secret: string, other?: Map<string, Session>): AuthMiddleware {
    return new Impl(secret);
  }
}

export function parse(text: string): number;
export function parse(text: string, radix: number): number;
export function parse(text: string, radix = 10): number {
  return Number.parseInt(text, radix);
}

export const handler = async <T,>(request: Request, ...rest: T[]): Promise<Response> => {
  return respond(request, rest);
};

declare module "legacy" {
  export function old(value: any): void;
}

namespace Internal.Deep {
  export class Cache<K> {
    get(key: K) {
      return key;
    }
  }
}

export default class {
  run() {}
}
