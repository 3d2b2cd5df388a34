/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an exception says, while it is leaving a scope.
 *
 * A destructor that runs because of an exception cannot ask for it: it is
 * current in a handler only, and the runtime's globals have caught ones alone.
 * The unwinder is given every one at its start. So a program that has scopes
 * stands before the two calls that start it, notes the exception under the
 * number of those in flight, and goes on to the unwinder. Where these calls
 * cannot be taken over (a static runtime's come first, a library that was
 * loaded locally) the text of a failure is "exception".
 *
 * Layouts are those of the Itanium C++ ABI, which libstdc++ and libc++abi
 * have; an exception of another language or runtime is known by its class.
 */
#ifndef TARE_EXCEPTION_HPP
#define TARE_EXCEPTION_HPP

#include <tare/api.h>
#include <tare/standard.h>

#ifndef TARE_DISABLE
#include <exception>
#include <typeinfo>

#include <cxxabi.h>
#include <unwind.h>

#if defined(__cpp_exceptions) && defined(__LP64__)
#define TARE_EXCEPTIONS_ 1
#endif

TARE_BEGIN

/* Private: the unwinder's own call, of the next library that has it. */
typedef _Unwind_Reason_Code (*tare_unwind_fn_)(struct _Unwind_Exception *);
TARE_API tare_unwind_fn_ tare_unwind_next_(const char *name,
					   const void *caller);

TARE_END

namespace tare {
namespace exception_ {

constexpr int most_in_flight = 8;

/* Of this thread, by how many are in flight; [0] is not used. */
inline thread_local struct _Unwind_Exception *in_flight[most_in_flight + 1];

/* GNUCC++ or CLNGC++; the last byte is 1 for one thrown by a pointer to it. */
inline bool is_cxx(const struct _Unwind_Exception *e) noexcept
{
	uint64_t kind = e->exception_class >> 8;

	return kind == 0x474e5543432b2bu || kind == 0x434c4e47432b2bu;
}

inline void note(struct _Unwind_Exception *e) noexcept
{
	int n = std::uncaught_exceptions();

	if (n > 0 && n <= most_in_flight)
		in_flight[n] = is_cxx(e) ? e : nullptr;
	while (++n > 0 && n <= most_in_flight) /* these are over */
		in_flight[n] = nullptr;
}

/* Notes it and goes on. No unwinder, no exceptions: none can get here. */
inline _Unwind_Reason_Code start(struct _Unwind_Exception *e, const char *name,
				 const void *caller)
{
	tare_unwind_fn_ next = tare_unwind_next_(name, caller);

	note(e);
	return next ? next(e) : _URC_FATAL_PHASE1_ERROR;
}

/* Words before the unwinder's part: type, destructor, ... */
constexpr int type_word = -10;

struct thrown {
	const std::type_info *type;
	void *object;
};

inline thrown thrown_of(struct _Unwind_Exception *e) noexcept
{
	void **words = reinterpret_cast<void **>(e);
	bool is_dependent = (e->exception_class & 0xff) == 1;
	bool is_gnu = e->exception_class >> 56 == 'G';
	void *object = e + 1;

	if (is_dependent) {
		/* libc++abi has a copy of the type, and the object before. */
		object = words[is_gnu ? type_word : type_word - 1];
		if (is_gnu) {
			e = static_cast<struct _Unwind_Exception *>(object) - 1;
			words = reinterpret_cast<void **>(e);
		}
	}
	return { static_cast<const std::type_info *>(words[type_word]),
		 object };
}

extern "C" {
/* By their names: they are there also with -fno-rtti. */
extern const std::type_info tare_std_exception_
	__asm__("_ZTISt9exception");
extern void *const tare_single_base_[]
	__asm__("_ZTVN10__cxxabiv120__si_class_type_infoE");
extern void *const tare_several_bases_[]
	__asm__("_ZTVN10__cxxabiv121__vmi_class_type_infoE");
}

struct base {
	const std::type_info *type;
	long offset_flags; /* 1: virtual, 2: public; offset << 8 */
};

struct several_bases {
	const void *vptr;
	const char *name;
	unsigned flags, n;
	base at[1];
};

inline const std::exception *find_exception(const std::type_info *type,
					    char *object) noexcept;

inline const std::exception *
find_in_bases(const several_bases *bases, char *object) noexcept
{
	for (unsigned i = 0; i < bases->n; i++) {
		const base *b = &bases->at[i];
		long offset = b->offset_flags >> 8;
		const std::exception *found;

		if (!(b->offset_flags & 2))
			continue;
		if (b->offset_flags & 1)
			offset = *reinterpret_cast<const long *>(
				*reinterpret_cast<char *const *>(object) +
				offset);
		found = find_exception(b->type, object + offset);
		if (found)
			return found;
	}
	return nullptr;
}

/* The std::exception that it is, or has as a public base. */
inline const std::exception *find_exception(const std::type_info *type,
					    char *object) noexcept
{
	const void *vptr = *reinterpret_cast<void *const *>(type);

	if (*type == tare_std_exception_)
		return reinterpret_cast<const std::exception *>(object);
	if (vptr == tare_single_base_ + 2)
		return find_exception(
			reinterpret_cast<const std::type_info *const *>(
				type)[2],
			object);
	if (vptr == tare_several_bases_ + 2)
		return find_in_bases(
			reinterpret_cast<const several_bases *>(type), object);
	return nullptr;
}

/* A text that was thrown as such, or the name of the type. */
template <typename Scope>
inline void fail_by_type(Scope scope, const thrown &it) noexcept
{
	const char *type = it.type->name();
	const char *text = nullptr;
	int status;

	if (__builtin_strcmp(type, "PKc") == 0)
		text = *static_cast<const char *const *>(it.object);
	if (text) {
		tare_scope_fail(scope, text);
		return;
	}
	/* The runtime's own memory: throwing has taken some already. */
	char *name = abi::__cxa_demangle(type, nullptr, nullptr, &status);

	tare_scope_fail(scope, name ? name : type);
	__builtin_free(name);
}

/* An exception leaves the scope, which is still open: a tare_scope. */
template <typename Scope> inline void fail(Scope scope) noexcept
{
	int n = std::uncaught_exceptions();
	struct _Unwind_Exception *e =
		n > 0 && n <= most_in_flight ? in_flight[n] : nullptr;

	if (!e) {
		tare_scope_fail(scope, "exception");
		return;
	}
	thrown it = thrown_of(e);
	const std::exception *known =
		find_exception(it.type, static_cast<char *>(it.object));

	if (known)
		tare_scope_fail(scope, known->what());
	else
		fail_by_type(scope, it);
}

} /* namespace exception_ */
} /* namespace tare */

#ifdef TARE_EXCEPTIONS_
extern "C" {

__attribute__((weak, visibility("default"))) TARE_UNHOOKED _Unwind_Reason_Code
_Unwind_RaiseException(struct _Unwind_Exception *e)
{
	return tare::exception_::start(e, "_Unwind_RaiseException",
				       __builtin_return_address(0));
}

__attribute__((weak, visibility("default"))) TARE_UNHOOKED _Unwind_Reason_Code
_Unwind_Resume_or_Rethrow(struct _Unwind_Exception *e)
{
	return tare::exception_::start(e, "_Unwind_Resume_or_Rethrow",
				       __builtin_return_address(0));
}

}
#endif

#endif /* TARE_DISABLE */
#endif
