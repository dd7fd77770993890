package assay.sandbox;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.NestingKind;
import javax.lang.model.element.TypeElement;
import javax.lang.model.element.TypeParameterElement;
import javax.lang.model.element.VariableElement;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.IntersectionType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.type.TypeVariable;
import javax.lang.model.type.WildcardType;
import javax.lang.model.util.ElementFilter;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;

/**
 * Writes the source of the classes that stand for the program's in the judge: they have the same names and signatures, and each method is a
 * call into the program's process. They are made from the compiler's description of the classes; of the program's text only names enter.
 */
final class StandIns {
    /** Methods that are never the program's, as is none with the name equals: the judge decides equality by itself. */
    private static final Set<String> LEFT_OUT =
            Set.of("hashCode()I", "finalize()V", "clone()Ljava/lang/Object;");

    private final Elements elements;
    private final Types types;
    private final Set<TypeElement> own;

    /** own: every class of the program that a test can name. */
    StandIns(Elements elements, Types types, List<TypeElement> tops) {
        this.elements = elements;
        this.types = types;
        List<TypeElement> all = new ArrayList<>();
        tops.forEach(top -> collect(top, all));
        this.own = Set.copyOf(all);
    }

    private static void collect(TypeElement type, List<TypeElement> all) {
        if (!type.getModifiers().contains(Modifier.PRIVATE) && type.getKind() != ElementKind.ANNOTATION_TYPE) {
            all.add(type);
            ElementFilter.typesIn(type.getEnclosedElements()).forEach(inner -> collect(inner, all));
        }
    }

    String source(TypeElement type) {
        boolean contract = type.getKind() == ElementKind.INTERFACE;
        StringBuilder text = new StringBuilder();
        text.append(access(type)).append(type.getNestingKind() == NestingKind.MEMBER ? "static " : "");
        text.append(contract ? "interface " : "class ").append(type.getSimpleName()).append(parameters(type.getTypeParameters()));
        if (!contract) {
            TypeMirror above = type.getSuperclass();
            boolean ours = above.getKind() == TypeKind.DECLARED && own.contains(types.asElement(above));
            text.append(" extends ").append(ours ? name(above) : "assay.sandbox.StandIn");
        }
        String contracts = type.getInterfaces().stream()
                .filter(t -> own.contains(types.asElement(t)))
                .map(this::name)
                .collect(Collectors.joining(", "));
        if (!contracts.isEmpty()) {
            text.append(contract ? " extends " : " implements ").append(contracts);
        }
        text.append(" {\n");
        if (!contract) {
            text.append("protected ").append(type.getSimpleName()).append("(assay.sandbox.StandIn.Handle handle) { super(handle); }\n");
        }
        for (Element member : type.getEnclosedElements()) {
            text.append(member(type, member));
        }
        return text.append("}\n").toString();
    }

    private String member(TypeElement type, Element member) {
        if (member.getModifiers().contains(Modifier.PRIVATE)) {
            return "";
        }
        if (member instanceof TypeElement inner) {
            return own.contains(inner) ? source(inner) : "";
        }
        if (member instanceof VariableElement field) {
            return field(type, field);
        }
        if (!(member instanceof ExecutableElement method) || !nameable(method)) {
            return "";
        }
        if (member.getKind() == ElementKind.CONSTRUCTOR) {
            boolean makeable = type.getKind() != ElementKind.ENUM
                    && (type.getNestingKind() == NestingKind.TOP_LEVEL || type.getModifiers().contains(Modifier.STATIC));
            return makeable ? constructor(type, method) : "";
        }
        boolean callable = member.getKind() == ElementKind.METHOD
                && !method.getSimpleName().contentEquals("equals")
                && !LEFT_OUT.contains(method.getSimpleName() + descriptor(method));
        return callable ? method(type, method) : "";
    }

    private String field(TypeElement type, VariableElement field) {
        Set<Modifier> modifiers = field.getModifiers();
        if (!modifiers.contains(Modifier.STATIC) || !modifiers.contains(Modifier.FINAL) || !nameable(field.asType())) {
            return "";
        }
        Object constant = field.getConstantValue();
        String value = constant != null
                ? elements.getConstantExpression(constant)
                : "(" + name(field.asType()) + ") assay.sandbox.Remote.field("
                        + quoted(binary(type)) + ", " + quoted(field.getSimpleName()) + ")";
        return UNCHECKED + access(field) + "static final " + name(field.asType()) + " " + field.getSimpleName() + " = " + value + ";\n";
    }

    private static final String UNCHECKED = "@SuppressWarnings(\"all\") ";

    private String constructor(TypeElement type, ExecutableElement method) {
        return access(method) + parameters(method.getTypeParameters()) + type.getSimpleName() + signature(method)
                + " { super(assay.sandbox.Remote.construct(" + quoted(binary(type)) + ", " + quoted(descriptor(method)) + ", "
                + arguments(method) + ")); }\n";
    }

    private String method(TypeElement type, ExecutableElement method) {
        boolean fixed = method.getModifiers().contains(Modifier.STATIC);
        String kind = fixed ? "static " : type.getKind() == ElementKind.INTERFACE ? "default " : "";
        TypeMirror result = method.getReturnType();
        String cast = result.getKind() == TypeKind.VOID ? "" : "return (" + name(result) + ") ";
        String call = String.join(", ", fixed ? "null" : "this", quoted(binary(type)), quoted(method.getSimpleName()),
                quoted(descriptor(method)), arguments(method));
        return UNCHECKED + access(method) + kind + parameters(method.getTypeParameters()) + name(result) + " " + method.getSimpleName()
                + signature(method) + " { " + cast + "assay.sandbox.Remote.call(" + call + "); }\n";
    }

    private String signature(ExecutableElement method) {
        List<String> parameters = new ArrayList<>();
        List<? extends VariableElement> given = method.getParameters();
        for (int i = 0; i < given.size(); i++) {
            TypeMirror type = given.get(i).asType();
            boolean many = method.isVarArgs() && i == given.size() - 1;
            parameters.add((many ? name(((ArrayType) type).getComponentType()) + "..." : name(type)) + " a" + i);
        }
        String thrown = method.getThrownTypes().stream().map(this::name).collect(Collectors.joining(", "));
        return "(" + String.join(", ", parameters) + ")" + (thrown.isEmpty() ? "" : " throws " + thrown);
    }

    private static String arguments(ExecutableElement method) {
        StringBuilder text = new StringBuilder("new Object[] {");
        for (int i = 0; i < method.getParameters().size(); i++) {
            text.append(i == 0 ? "a" : ", a").append(i);
        }
        return text.append("}").toString();
    }

    private static String access(Element element) {
        Set<Modifier> modifiers = element.getModifiers();
        return modifiers.contains(Modifier.PUBLIC) ? "public " : modifiers.contains(Modifier.PROTECTED) ? "protected " : "";
    }

    private String parameters(List<? extends TypeParameterElement> parameters) {
        if (parameters.isEmpty()) {
            return "";
        }
        return parameters.stream()
                .map(p -> p.getSimpleName() + bounds(p))
                .collect(Collectors.joining(", ", "<", "> "));
    }

    private String bounds(TypeParameterElement parameter) {
        String bounds = parameter.getBounds().stream().filter(this::nameable).map(this::name).collect(Collectors.joining(" & "));
        return bounds.isEmpty() ? "" : " extends " + bounds;
    }

    /** Whether a test could write this type: not where it has a private class, or a class of the program that is not in `own`. */
    private boolean nameable(ExecutableElement method) {
        return nameable(method.getReturnType())
                && method.getParameters().stream().allMatch(p -> nameable(p.asType()))
                && method.getThrownTypes().stream().allMatch(t -> nameable(t) && !own.contains(types.asElement(t)));
    }

    private boolean nameable(TypeMirror type) {
        switch (type.getKind()) {
            case DECLARED:
                TypeElement element = (TypeElement) types.asElement(type);
                boolean library = elements.getModuleOf(element) != null && !elements.getModuleOf(element).isUnnamed();
                return (library || own.contains(element)) && ((DeclaredType) type).getTypeArguments().stream().allMatch(this::nameable);
            case ARRAY:
                return nameable(((ArrayType) type).getComponentType());
            case ERROR:
                return false;
            default:
                return true;
        }
    }

    /** A type as source text, without the annotations of its `toString`. */
    private String name(TypeMirror type) {
        switch (type.getKind()) {
            case DECLARED:
                List<? extends TypeMirror> arguments = ((DeclaredType) type).getTypeArguments();
                String plain = ((TypeElement) types.asElement(type)).getQualifiedName().toString();
                return arguments.isEmpty() ? plain : arguments.stream().map(this::name).collect(Collectors.joining(", ", plain + "<", ">"));
            case ARRAY:
                return name(((ArrayType) type).getComponentType()) + "[]";
            case TYPEVAR:
                return ((TypeVariable) type).asElement().getSimpleName().toString();
            case WILDCARD:
                WildcardType wildcard = (WildcardType) type;
                return wildcard.getExtendsBound() != null
                        ? "? extends " + name(wildcard.getExtendsBound())
                        : wildcard.getSuperBound() != null ? "? super " + name(wildcard.getSuperBound()) : "?";
            case INTERSECTION:
                return ((IntersectionType) type).getBounds().stream().map(this::name).collect(Collectors.joining(" & "));
            default:
                return type.getKind().name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    private String descriptor(ExecutableElement method) {
        return method.getParameters().stream().map(p -> descriptor(p.asType())).collect(Collectors.joining("", "(", ")"))
                + descriptor(method.getReturnType());
    }

    private String descriptor(TypeMirror type) {
        TypeMirror erased = types.erasure(type);
        return switch (erased.getKind()) {
            case BOOLEAN -> "Z";
            case BYTE -> "B";
            case SHORT -> "S";
            case INT -> "I";
            case LONG -> "J";
            case CHAR -> "C";
            case FLOAT -> "F";
            case DOUBLE -> "D";
            case VOID -> "V";
            case ARRAY -> "[" + descriptor(((ArrayType) erased).getComponentType());
            default -> "L" + binary((TypeElement) types.asElement(erased)).replace('.', '/') + ";";
        };
    }

    private String binary(TypeElement type) {
        return elements.getBinaryName(type).toString();
    }

    private String quoted(CharSequence text) {
        return elements.getConstantExpression(text.toString());
    }
}
