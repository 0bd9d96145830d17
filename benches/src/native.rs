//! Native QuickJS (rquickjs 0.12, the version in the guest) with a fresh runtime and context for every call.

use rquickjs::loader::{BuiltinLoader, BuiltinResolver};
use rquickjs::{CatchResultExt, Context, Ctx, Function, Module, Object, Runtime};

/// What natively stands behind the built-in imports, for bundles that have them.
const SDK: &str = include_str!("../../guest/dist/sdk.js");
const AUTOMATIONS: &str = include_str!("../../guest/dist/automations.js");
const ZOD: &str = include_str!("../../guest/dist/zod.js");

/// A callback natively: its module, and how to find it there.
pub struct Native {
    modules: Vec<(String, String)>,
    entry: String,
    export: &'static str,
    is_tool: bool,
}

/// A context that stays warm between calls.
pub struct Warm {
    _runtime: Runtime,
    context: Context,
    native: Native,
}

impl Native {
    /// A module whose export `export` is the function itself.
    pub fn function(source: &str, export: &'static str) -> Self {
        Self { modules: vec![("entry.js".into(), source.into())], entry: "entry.js".into(), export, is_tool: false }
    }

    /// The modules of a bundle, whose export is a tool.
    pub fn tool(modules: &callcell_runtime::ModuleSet, export: &'static str) -> Self {
        let mut all: Vec<_> = modules.modules.iter().map(|module| (module.name.clone(), module.source.clone())).collect();
        for (name, source) in [("callcell:sdk", SDK), ("@eigenpal/automations", AUTOMATIONS), ("zod", ZOD)] {
            all.push((name.into(), source.into()));
        }
        Self { modules: all, entry: modules.entry.clone(), export, is_tool: true }
    }

    fn context(&self) -> (Runtime, Context) {
        let runtime = Runtime::new().expect("a runtime");
        let mut resolver = BuiltinResolver::default();
        let mut loader = BuiltinLoader::default();
        for (name, source) in &self.modules {
            resolver = resolver.with_module(name.as_str());
            loader = loader.with_module(name.as_str(), source.as_bytes().to_vec());
        }
        runtime.set_loader(resolver, loader);
        let context = Context::full(&runtime).expect("a context");
        (runtime, context)
    }

    fn load<'js>(&self, ctx: &Ctx<'js>) -> Function<'js> {
        let source = self.modules.iter().find(|(name, _)| *name == self.entry).expect("the entry is a module").1.clone();
        let module = Module::declare(ctx.clone(), self.entry.as_str(), source).catch(ctx).expect("it parses");
        let (module, promise) = module.eval().catch(ctx).expect("it evaluates");
        promise.finish::<()>().catch(ctx).expect("it finishes");
        if self.is_tool {
            module.get::<_, Object>(self.export).and_then(|tool| tool.get("execute")).catch(ctx).expect("a tool")
        } else {
            module.get(self.export).catch(ctx).expect("an export")
        }
    }

    /// JSON in, JSON out, in a fresh runtime and context.
    pub fn call_fresh(&self, argument: &str) -> String {
        let (_runtime, context) = self.context();
        context.with(|ctx| call(&ctx, &self.load(&ctx), argument))
    }

    /// A context that has the modules loaded already.
    pub fn warm(self) -> Warm {
        let (runtime, context) = self.context();
        context.with(|ctx| {
            let function = self.load(&ctx);
            ctx.globals().set("callback", function).expect("a global");
        });
        Warm { _runtime: runtime, context, native: self }
    }
}

impl Warm {
    /// JSON in, JSON out, in the warm context.
    pub fn call(&self, argument: &str) -> String {
        let _ = &self.native;
        self.context.with(|ctx| {
            let function: Function = ctx.globals().get("callback").expect("the callback");
            call(&ctx, &function, argument)
        })
    }
}

fn call<'js>(ctx: &Ctx<'js>, function: &Function<'js>, argument: &str) -> String {
    let value = ctx.json_parse(argument).expect("the argument is JSON");
    let result: rquickjs::Value = function.call((value,)).catch(ctx).expect("the callback works");
    let text = ctx.json_stringify(result).expect("the result is JSON").expect("the result is not undefined");
    text.to_string().expect("the result is text")
}
